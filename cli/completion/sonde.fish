# SPDX-License-Identifier: MIT
# Completion for fish. `sonde help --complete` prints the candidates (cli/complete.h).
function __sonde_complete
	set -l words (commandline -opc)
	set -l raw (commandline -ct)
	set -l typed (string replace -ra '[\'"\\\\]' '' -- $raw)
	set -l program (string replace -r '^~/' $HOME/ -- $words[1])
	type -q -- $program; or set program sonde
	for line in ($program help --complete -- $words[2..-1] "$typed" </dev/null 2>/dev/null)
		set -l word (string sub -s 2 -- $line)
		# What follows the beginning of a word that stays, with its quotes.
		set -l part (string replace -- "$word" '' "$raw")
		switch $line
			case '=*' '+*'
				echo -- $word
			case 'w*'
				set -l rest (string escape -- $words[(math $word + 1)..-1])
				complete -C (string join ' ' -- $rest "$raw")
			case 'f*'
				string replace -r '^' -- "$word" (complete -C "'' $part")
			case 'd*'
				set -l found (__fish_complete_directories "$part" '')
				string replace -r '^' -- "$word" $found
			case 'c*'
				string replace -r '^' -- "$word" (complete -C "$part")
		end
	end
end
complete -c sonde -f -a '(__sonde_complete)'
