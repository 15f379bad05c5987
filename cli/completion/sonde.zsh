#compdef sonde
# SPDX-License-Identifier: MIT
# Completion for zsh. `sonde help --complete` prints the candidates (cli/complete.h).
_sonde()
{
	local typed=${(Q)PREFIX} program=${(Q)words[1]} keep line ret=1
	local -a whole open

	program=${program/#\~\//$HOME/}
	(($+commands[$program])) || [[ -x $program ]] || program=sonde
	# Lists show only what follows the last of these.
	keep=${typed%${typed##*[,\{=]}}
	line=$($program help --complete -- "${(@Q)words[2,CURRENT-1]}" "$typed" \
		</dev/null 2>/dev/null)
	for line in ${(f)line}; do
		case $line in
		(\=*) whole+=("${${line#?}#$keep}") ;;
		(\+*) open+=("${${line#?}#$keep}") ;;
		(w*) shift ${line#?} words; CURRENT=$((CURRENT - ${line#?})); _normal && ret=0 ;;
		(f) _files && ret=0 ;;
		(d) _path_files -/ && ret=0 ;;
		(c) _command_names -e && ret=0 ;;
		(f*) compset -p $(($#line - 1)) && _files && ret=0 ;;
		(d*) compset -p $(($#line - 1)) && _path_files -/ && ret=0 ;;
		(c*) compset -p $(($#line - 1)) && _command_names -e && ret=0 ;;
		esac
	done
	(($#whole + $#open)) || return ret
	[[ -z $keep ]] || compset -P '*[,{=]'
	(($#whole)) && compadd -a whole && ret=0
	(($#open)) && compadd -S '' -a open && ret=0
	return ret
}

if [[ $funcstack[1] == _sonde ]]; then
	_sonde "$@"
else
	compdef _sonde sonde
fi
