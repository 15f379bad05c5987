/* SPDX-License-Identifier: MIT */
/* Texts of kvm's events, as trace-cmd's plugin writes them. */

#include "sinks/tracecmd/tracecmd.h"

struct kvm_reason {
	uint32_t number;
	const char *name;
};

/* Intel's, by the numbers of exits in its manual. */
static const struct kvm_reason vmx_reasons[] = {
	{ 0x0, "EXCEPTION_NMI" },
	{ 0x1, "EXTERNAL_INTERRUPT" },
	{ 0x2, "TRIPLE_FAULT" },
	{ 0x7, "PENDING_INTERRUPT" },
	{ 0x8, "NMI_WINDOW" },
	{ 0x9, "TASK_SWITCH" },
	{ 0xa, "CPUID" },
	{ 0xc, "HLT" },
	{ 0xd, "INVD" },
	{ 0xe, "INVLPG" },
	{ 0xf, "RDPMC" },
	{ 0x10, "RDTSC" },
	{ 0x12, "VMCALL" },
	{ 0x13, "VMCLEAR" },
	{ 0x14, "VMLAUNCH" },
	{ 0x15, "VMPTRLD" },
	{ 0x16, "VMPTRST" },
	{ 0x17, "VMREAD" },
	{ 0x18, "VMRESUME" },
	{ 0x19, "VMWRITE" },
	{ 0x1a, "VMOFF" },
	{ 0x1b, "VMON" },
	{ 0x1c, "CR_ACCESS" },
	{ 0x1d, "DR_ACCESS" },
	{ 0x1e, "IO_INSTRUCTION" },
	{ 0x1f, "MSR_READ" },
	{ 0x20, "MSR_WRITE" },
	{ 0x24, "MWAIT_INSTRUCTION" },
	{ 0x27, "MONITOR_INSTRUCTION" },
	{ 0x28, "PAUSE_INSTRUCTION" },
	{ 0x29, "MCE_DURING_VMENTRY" },
	{ 0x2b, "TPR_BELOW_THRESHOLD" },
	{ 0x2c, "APIC_ACCESS" },
	{ 0x2d, "EOI_INDUCED" },
	{ 0x30, "EPT_VIOLATION" },
	{ 0x31, "EPT_MISCONFIG" },
	{ 0x32, "INVEPT" },
	{ 0x34, "PREEMPTION_TIMER" },
	{ 0x36, "WBINVD" },
	{ 0x37, "XSETBV" },
	{ 0x38, "APIC_WRITE" },
	{ 0x3a, "INVPCID" },
	{ 0x3e, "PML_FULL" },
	{ 0x3f, "XSAVES" },
	{ 0x40, "XRSTORS" },
};

/* AMD's. */
static const struct kvm_reason svm_reasons[] = {
	{ 0x0, "EXIT_READ_CR0" },
	{ 0x3, "EXIT_READ_CR3" },
	{ 0x4, "EXIT_READ_CR4" },
	{ 0x8, "EXIT_READ_CR8" },
	{ 0x10, "EXIT_WRITE_CR0" },
	{ 0x13, "EXIT_WRITE_CR3" },
	{ 0x14, "EXIT_WRITE_CR4" },
	{ 0x18, "EXIT_WRITE_CR8" },
	{ 0x20, "EXIT_READ_DR0" },
	{ 0x21, "EXIT_READ_DR1" },
	{ 0x22, "EXIT_READ_DR2" },
	{ 0x23, "EXIT_READ_DR3" },
	{ 0x24, "EXIT_READ_DR4" },
	{ 0x25, "EXIT_READ_DR5" },
	{ 0x26, "EXIT_READ_DR6" },
	{ 0x27, "EXIT_READ_DR7" },
	{ 0x30, "EXIT_WRITE_DR0" },
	{ 0x31, "EXIT_WRITE_DR1" },
	{ 0x32, "EXIT_WRITE_DR2" },
	{ 0x33, "EXIT_WRITE_DR3" },
	{ 0x34, "EXIT_WRITE_DR4" },
	{ 0x35, "EXIT_WRITE_DR5" },
	{ 0x36, "EXIT_WRITE_DR6" },
	{ 0x37, "EXIT_WRITE_DR7" },
	{ 0x40, "EXIT_EXCP_DE" },
	{ 0x41, "EXIT_EXCP_DB" },
	{ 0x43, "EXIT_EXCP_BP" },
	{ 0x44, "EXIT_EXCP_OF" },
	{ 0x45, "EXIT_EXCP_BR" },
	{ 0x46, "EXIT_EXCP_UD" },
	{ 0x47, "EXIT_EXCP_NM" },
	{ 0x48, "EXIT_EXCP_DF" },
	{ 0x4a, "EXIT_EXCP_TS" },
	{ 0x4b, "EXIT_EXCP_NP" },
	{ 0x4c, "EXIT_EXCP_SS" },
	{ 0x4d, "EXIT_EXCP_GP" },
	{ 0x4e, "EXIT_EXCP_PF" },
	{ 0x50, "EXIT_EXCP_MF" },
	{ 0x51, "EXIT_EXCP_AC" },
	{ 0x52, "EXIT_EXCP_MC" },
	{ 0x53, "EXIT_EXCP_XF" },
	{ 0x60, "EXIT_INTR" },
	{ 0x61, "EXIT_NMI" },
	{ 0x62, "EXIT_SMI" },
	{ 0x63, "EXIT_INIT" },
	{ 0x64, "EXIT_VINTR" },
	{ 0x65, "EXIT_CR0_SEL_WRITE" },
	{ 0x66, "EXIT_IDTR_READ" },
	{ 0x67, "EXIT_GDTR_READ" },
	{ 0x68, "EXIT_LDTR_READ" },
	{ 0x69, "EXIT_TR_READ" },
	{ 0x6a, "EXIT_IDTR_WRITE" },
	{ 0x6b, "EXIT_GDTR_WRITE" },
	{ 0x6c, "EXIT_LDTR_WRITE" },
	{ 0x6d, "EXIT_TR_WRITE" },
	{ 0x6e, "EXIT_RDTSC" },
	{ 0x6f, "EXIT_RDPMC" },
	{ 0x70, "EXIT_PUSHF" },
	{ 0x71, "EXIT_POPF" },
	{ 0x72, "EXIT_CPUID" },
	{ 0x73, "EXIT_RSM" },
	{ 0x74, "EXIT_IRET" },
	{ 0x75, "EXIT_SWINT" },
	{ 0x76, "EXIT_INVD" },
	{ 0x77, "EXIT_PAUSE" },
	{ 0x78, "EXIT_HLT" },
	{ 0x79, "EXIT_INVLPG" },
	{ 0x7a, "EXIT_INVLPGA" },
	{ 0x7b, "EXIT_IOIO" },
	{ 0x7c, "EXIT_MSR" },
	{ 0x7d, "EXIT_TASK_SWITCH" },
	{ 0x7e, "EXIT_FERR_FREEZE" },
	{ 0x7f, "EXIT_SHUTDOWN" },
	{ 0x80, "EXIT_VMRUN" },
	{ 0x81, "EXIT_VMMCALL" },
	{ 0x82, "EXIT_VMLOAD" },
	{ 0x83, "EXIT_VMSAVE" },
	{ 0x84, "EXIT_STGI" },
	{ 0x85, "EXIT_CLGI" },
	{ 0x86, "EXIT_SKINIT" },
	{ 0x87, "EXIT_RDTSCP" },
	{ 0x88, "EXIT_ICEBP" },
	{ 0x89, "EXIT_WBINVD" },
	{ 0x8a, "EXIT_MONITOR" },
	{ 0x8b, "EXIT_MWAIT" },
	{ 0x8c, "EXIT_MWAIT_COND" },
	{ 0x8d, "EXIT_XSETBV" },
	{ 0x400, "EXIT_NPF" },
	{ 0x401, "EXIT_AVIC_INCOMPLETE_IPI" },
	{ 0x402, "EXIT_AVIC_UNACCELERATED_ACCESS" },
	{ 0xffffffff, "EXIT_ERR" },
};

enum { ISA_VMX = 1, ISA_SVM = 2 };

static void kvm_put_reason(struct outbuf *out, uint64_t isa, uint32_t reason)
{
	const struct kvm_reason *reasons = isa == ISA_VMX ? vmx_reasons : svm_reasons;
	const size_t n = isa == ISA_VMX ? sizeof(vmx_reasons) / sizeof(*vmx_reasons)
					: sizeof(svm_reasons) / sizeof(*svm_reasons);

	if (isa != ISA_VMX && isa != ISA_SVM) {
		outbuf_str(out, "UNKNOWN-ISA");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (reasons[i].number == reason) {
			outbuf_str(out, reasons[i].name);
			return;
		}
	}
	outbuf_fmt(out, "UNKNOWN (%u)", reason);
}

static void kvm_put_hex(struct outbuf *out, const char *label, uint64_t v)
{
	outbuf_str(out, label);
	outbuf_hex(out, v);
}

/* Fields: exit_reason, guest_rip, isa, info1, info2. */
bool tracecmd_kvm_exit_text(struct tracecmd_sink *s, const struct tracecmd_type *type,
			    const struct event *ev, struct outbuf *out)
{
	(void)s;
	outbuf_str(out, "reason ");
	kvm_put_reason(out, type->fields[2] ? tracecmd_number(type, 2, ev) : ISA_VMX,
		       (uint32_t)tracecmd_number(type, 0, ev));
	kvm_put_hex(out, " rip 0x", tracecmd_number(type, 1, ev));
	if (type->fields[3] && type->fields[4]) {
		kvm_put_hex(out, " info ", tracecmd_number(type, 3, ev));
		kvm_put_hex(out, " ", tracecmd_number(type, 4, ev));
	}
	return true;
}

/* Fields: vcpu_id, rip. */
bool tracecmd_kvm_entry_text(struct tracecmd_sink *s, const struct tracecmd_type *type,
			     const struct event *ev, struct outbuf *out)
{
	(void)s;
	outbuf_str(out, " vcpu ");
	outbuf_u64(out, tracecmd_number(type, 0, ev));
	if (type->fields[1])
		kvm_put_hex(out, " rip 0x", tracecmd_number(type, 1, ev));
	return true;
}

/* Fields: rip, csbase, len, insn, failed. */
bool tracecmd_kvm_insn_text(struct tracecmd_sink *s, const struct tracecmd_type *type,
			    const struct event *ev, struct outbuf *out)
{
	const struct sonde_field *f = type->fields[3];
	uint64_t n = tracecmd_number(type, 2, ev);
	const uint8_t *p;
	uint32_t len;

	(void)s;
	p = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, ev->pub.flags & SONDE_EVENT_SWAPPED,
			&len);
	n = n < len ? n : len;
	kvm_put_hex(out, "", tracecmd_number(type, 1, ev));
	kvm_put_hex(out, ":", tracecmd_number(type, 0, ev));
	outbuf_str(out, n ? ":" : ": ");
	for (uint32_t i = 0; p && i < n; i++) {
		outbuf_char(out, ' ');
		outbuf_hex_width(out, p[i], 2, '0');
	}
	if (tracecmd_number(type, 4, ev))
		outbuf_str(out, " FAIL");
	return true;
}
