# SPDX-License-Identifier: MIT
# Completion for bash. `sonde help --complete` prints the candidates (cli/complete.h).
_sonde()
{
	local rest=${COMP_LINE:0:COMP_POINT} typed=${2//[\'\"\\]/}
	local words=() starts=() cur keep line name i

	# bash has cut the words at ':' and '=' as well; only blanks separate those of the program.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if [[ $i == 0 || $rest == [[:blank:]]* ]]; then
			rest=${rest#"${rest%%[![:blank:]]*}"}
			words+=('') starts+=("$i")
		fi
		name=${COMP_WORDS[i]}
		[[ $i != "$COMP_CWORD" ]] || name=$rest
		rest=${rest#"$name"}
		words[${#words[@]}-1]+=$name
	done
	words=("${words[@]//[\'\"\\]/}")
	words[0]=${words[0]/#\~\//$HOME/}
	type -P "${words[0]}" >/dev/null || words[0]=sonde
	cur=${words[${#words[@]}-1]}
	# What bash leaves alone of the current word.
	keep=${cur%"$typed"}

	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		=* | +*)
			[[ $line != +* ]] || compopt -o nospace 2>/dev/null
			line=${line#?} line=${line#"$keep"}
			[[ $2 != *\\* ]] || for name in '{' '}' '*' '?'; do
				line=${line//"$name"/\\$name}
			done
			COMPREPLY+=("$line")
			;;
		w*)
			if declare -F _command_offset >/dev/null; then
				_command_offset "${starts[${line#?}]}" </dev/null
			else
				compopt -o default 2>/dev/null
			fi
			;;
		[fdc]*)
			if [[ $line == "f$keep" && ${#COMPREPLY[@]} == 0 ]]; then
				# readline's own, which knows variables
				compopt -o default 2>/dev/null
				continue
			fi
			compopt -o filenames 2>/dev/null
			while IFS= read -r name; do
				name=${line#?}$name
				COMPREPLY+=("${name#"$keep"}")
			done < <(compgen "-${line:0:1}" -- "${cur#"${line#?}"}")
			;;
		esac
	done < <("${words[0]}" help --complete -- "${words[@]:1}" </dev/null 2>/dev/null)
}
complete -F _sonde sonde
