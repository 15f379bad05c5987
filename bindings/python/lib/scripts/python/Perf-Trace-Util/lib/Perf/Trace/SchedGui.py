# SPDX-License-Identifier: MIT
"""The module SchedGui for scripts: a window that shows the activity of cpus over time, one row per
cpu.

    app = wx.App(False)
    frame = RootFrame(tracer, "title")
    app.MainLoop()

The tracer provides the content: interval() returns the first and last time, nr_rectangles() the
number of the last row. The window passes itself with set_root_win() and calls
fill_zone(start, end), in which the tracer calls paint_rectangle_zone() for each rectangle of that
time. It reports mouse_down(row, time), and the tracer may then call update_summary(). Times are in
nanoseconds.

+ and - zoom around the middle, arrow keys scroll.
"""

try:
    import wx
except ImportError:
    raise ImportError(
        "this script shows a window: it needs wxPython (in Debian python3-wxgtk4.0)") from None

ROW_TOP, ROW_HEIGHT, ROW_DISTANCE, MARK_HEIGHT = 100, 100, 150, 5  # pixels
# pixels per unit of the scroll bars
SCROLL_STEP = 20
BORDER = 10


class RootFrame(wx.Frame):
    def __init__(self, sched_tracer, title, parent=None, id=-1):
        wx.Frame.__init__(self, parent, id, title)
        width, height = (int(size) - BORDER for size in wx.GetDisplaySize())
        self.sched_tracer = sched_tracer
        sched_tracer.set_root_win(self)
        self.ts_start, self.ts_end = sched_tracer.interval()
        self.nr_rows = sched_tracer.nr_rectangles() + 1
        self.zoom = 0.5  # pixels per microsecond
        self.dc = self.summary = None

        self.panel = wx.Panel(self, size=(width, height))
        self.scroll = wx.ScrolledWindow(self.panel)
        self.scroll.EnableScrolling(True, True)
        self.canvas = wx.Panel(self.scroll, size=(width - BORDER, height // 2))
        self.summary_at = 0, height // 2 + 50
        for event, handler in ((wx.EVT_PAINT, self.on_paint), (wx.EVT_KEY_DOWN, self.on_key_press),
                               (wx.EVT_LEFT_DOWN, self.on_mouse_down)):
            self.canvas.Bind(event, handler)
        self.scroll.Fit()
        self.Fit()
        self.resize()
        self.Show(True)

    # ---- time and place --------------------------------------------------------------------------

    def pixels(self, ns):
        return int(ns / 1000 * self.zoom)

    def ns(self, pixels):
        return int(pixels / self.zoom * 1000)

    def scrolled(self):
        """Pixels to the left of and above the visible part."""
        return [units * SCROLL_STEP for units in self.scroll.GetViewStart()]

    def resize(self, x=0):
        """Sets the scroll bars for the current zoom, with pixel x at the left."""
        width = self.pixels(self.ts_end - self.ts_start)
        height = ROW_TOP + self.nr_rows * ROW_DISTANCE
        self.canvas.SetSize(wx.Size(width, height))
        self.scroll.SetScrollbars(SCROLL_STEP, SCROLL_STEP, width // SCROLL_STEP,
                                  height // SCROLL_STEP, x // SCROLL_STEP,
                                  self.scrolled()[1] // SCROLL_STEP)

    def row_at(self, y):
        """The number of the row at pixel y; None between rows."""
        row, inside = divmod(y - ROW_TOP, ROW_DISTANCE)
        return row if 0 <= row < self.nr_rows and inside < ROW_HEIGHT else None

    # ---- called by the tracer --------------------------------------------------------------------

    def paint_rectangle_zone(self, nr, color, top_color, start, end):
        """Draws a rectangle in row nr; with top_color its upper edge is marked. Only valid while
        painting."""
        left, top = self.pixels(start - self.ts_start), ROW_TOP + nr * ROW_DISTANCE
        width, below = self.pixels(end - start), 0
        if top_color is not None:
            below = MARK_HEIGHT
            self.rectangle(top_color, left, top, width, below)
        self.rectangle(color, left, top + below, width, ROW_HEIGHT - below)

    def rectangle(self, color, left, top, width, height):
        color = wx.Colour(*color)
        self.dc.SetPen(wx.Pen(color))
        self.dc.SetBrush(wx.Brush(color, wx.SOLID))
        self.dc.DrawRectangle(left, top, width, height)

    def update_summary(self, txt):
        if self.summary:
            self.summary.Destroy()
        self.summary = wx.StaticText(self.panel, -1, txt, self.summary_at)

    # ---- called by wx ----------------------------------------------------------------------------

    def on_paint(self, event):
        self.dc = wx.PaintDC(self.canvas)
        left, width = self.scrolled()[0], self.panel.GetSize()[0]
        start = self.ts_start + self.ns(left)
        self.sched_tracer.fill_zone(start, min(start + self.ns(width), self.ts_end))
        self.dc = None  # valid only during the paint event

    def on_mouse_down(self, event):
        x, y = event.GetPosition()
        row = self.row_at(y)
        if row is not None:
            self.sched_tracer.mouse_down(row, self.ts_start + self.ns(x))

    def zoom_by(self, factor):
        half = self.panel.GetSize()[0] // 2
        middle = self.ns(self.scrolled()[0] + half)
        self.zoom *= factor
        self.resize(max(0, self.pixels(middle) - half))
        self.Refresh()

    def on_key_press(self, event):
        key = event.GetUnicodeKey() if event.GetUnicodeKey() else event.GetKeyCode()
        if key in (ord("+"), ord("=")):
            self.zoom_by(2)
        elif key == ord("-"):
            self.zoom_by(0.5)
        else:
            step = {wx.WXK_LEFT: (-1, 0), wx.WXK_RIGHT: (1, 0), wx.WXK_UP: (0, -1),
                    wx.WXK_DOWN: (0, 1)}.get(event.GetKeyCode())
            if step:
                x, y = self.scroll.GetViewStart()
                self.scroll.Scroll(max(0, x + step[0]), max(0, y + step[1]))
