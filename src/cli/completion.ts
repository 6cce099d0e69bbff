// `bin/drawbridge completion`: scripts by which shells complete commands and options. They are made from the tree of commands.
import { walk, type Group, type Leaf } from './command-tree.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The words that may follow each beginning of a command: commands of a group, options of a command. */
function wordsAfter(tree: Group): Map<string, string[]> {
  const words = new Map<string, string[]>()
  for (const { path, node } of walk(tree)) words.set(path.join(' '), followersOf(node))
  return words
}

const followersOf = (node: Leaf | Group): string[] =>
  'commands' in node
    ? node.commands.map(({ usage }) => usage.split(' ')[0]!)
    : [...(node.options ?? []).map(([flags]) => flags.split(' ')[0]!), '--help']

/** The script of a shell. Names of commands and options are letters and dashes, so nothing has to be quoted. */
export function completionScript(tree: Group, shell: Shell): string {
  const words = [...wordsAfter(tree)]
  if (shell === 'fish') {
    const lines = words.flatMap(([path, after]) =>
      after.map((word) => {
        const option = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
        return `complete -c drawbridge -n 'test "$(__drawbridge_path)" = "${path}"' ${option}`
      }),
    )
    return `function __drawbridge_path
    string join ' ' (string match -rv '^-' (commandline -opc)[2..])
end
${lines.join('\n')}
`
  }
  const cases = words.map(([path, after]) => `    '${path}') words='${after.join(' ')}' ;;`).join('\n')
  const bash = `_drawbridge() {
  local path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _drawbridge drawbridge bin/drawbridge
`
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`
}
