// Commands on links to laboratories, their messages and incoming results.
import { alwaysJson, commandsOf, type Group, json, oneCell } from './command-tree.ts'

const result = commandsOf(() => import('./commands/result.ts'))
const links = commandsOf(() => import('./commands/lab-links.ts'))

export const results: Group[] = [
  {
    usage: 'links',
    summary: 'links to laboratories and their messages',
    commands: [
      links(
        'setLink',
        'set <account> <file>',
        'set the profile of the link of a lab account, from a file in JSON',
        ['links set ACCOUNT_ID profile.json --cell production-us'],
        [oneCell],
      ),
      links(
        'printLink',
        'show <account>',
        'print the profile of a link as JSON',
        ['links show ACCOUNT_ID'],
        [oneCell, alwaysJson],
      ),
      links(
        'receiveFile',
        'receive <account> <file>',
        'receive a message from a file, as if it came over the link',
        ['links receive ACCOUNT_ID message.json --cell production-us'],
        [oneCell],
      ),
      links(
        'printMessages',
        'messages',
        'list the newest messages',
        ['links messages --attention --cell production-us'],
        [['--attention', 'only those that a person must look at'], oneCell, json],
      ),
      links('printMessage', 'message <id>', 'print a message', ['links message MESSAGE_ID --cell production-us'], [oneCell]),
      links('replay', 'replay <id>', 'process a message again', ['links replay MESSAGE_ID --cell production-us'], [oneCell]),
      links('finish', 'done <id>', 'mark a message as done', ['links done MESSAGE_ID --cell production-us'], [oneCell]),
    ],
  },
  {
    usage: 'result',
    summary: 'incoming results without a team',
    commands: [
      result('printResults', 'list', 'list unassigned results', ['result list --cell production-us'], [oneCell, json]),
      result(
        'assign',
        'assign <id>',
        'assign a result to a team and match it',
        ['result assign RESULT_ID --team TEAM_ID --cell production-us'],
        [oneCell, ['--team <id>', 'the team (required)']],
      ),
      result('drop', 'drop <id>', 'delete an unassigned result', ['result drop RESULT_ID --cell production-us'], [oneCell]),
    ],
  },
]
