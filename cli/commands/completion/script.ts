// What a shell reads once to complete `svcctl`. It asks `svcctl complete`, so it need not be read again after an upgrade.
import type { Command } from '../../command.ts';

const bash = `_svcctl() {
  local line
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    [ -n "$line" ] && COMPREPLY+=("$line")
  done < <(svcctl complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _svcctl svcctl
`;

const zsh = `#compdef svcctl
_svcctl() {
  local -a found
  local value doc
  while IFS=$'\\t' read -r value doc; do
    [[ -n $value ]] && found+=("\${value//:/\\\\:}:$doc")
  done < <(svcctl complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe svcctl found; else _files; fi
}
compdef _svcctl svcctl
`;

const fish = `function __svcctl_complete
  set -l words (commandline -opc)
  set -l found (svcctl complete -- $words[2..-1] (commandline -ct) 2>/dev/null | string match -r '.+')
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c svcctl -f -a '(__svcctl_complete)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

export const command: Command = {
  positionals: [{ name: 'SHELL', doc: 'bash, zsh or fish', choices: Object.keys(scripts), required: true }],
  example: 'source <(svcctl completion bash)',
  async run({ positionals }) {
    const shell = positionals[0] as string;
    const script = scripts[shell] as string;
    return { json: { shell, script }, text: script };
  },
};
