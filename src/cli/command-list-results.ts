// Commands on links to laboratories, their messages and incoming results.
import { alwaysJson, commandsOf, type Group, json, oneCell } from './command-tree.ts'

const result = commandsOf(() => import('./commands/result.ts'))
const profiles = commandsOf(() => import('./commands/link-profiles.ts'))
const compendium = commandsOf(() => import('./commands/link-compendium.ts'))
const trials = commandsOf(() => import('./commands/link-trials.ts'))
const links = commandsOf(() => import('./commands/lab-links.ts'))

export const results: Group[] = [
  {
    usage: 'links',
    summary: 'links to laboratories and their messages',
    commands: [
      profiles(
        'printLinks',
        'list',
        'list links with their modes and states',
        ['links list --cell production-us'],
        [oneCell, json],
      ),
      profiles(
        'printLink',
        'show <account>',
        'show a link, and the options of its profile that differ from the preset',
        ['links show ACCOUNT_ID', 'links show ACCOUNT_ID --whole'],
        [['--whole', 'print every option of the profile'], oneCell, json],
      ),
      profiles(
        'setOptions',
        'set <account> <option=value...>',
        `set options of a link's profile, and create the link; an empty value restores the preset, '""' is an empty text`,
        [
          'links set ACCOUNT_ID preset=us-23 text.time_zone=America/New_York results.reports=incremental',
          'links set ACCOUNT_ID transport.sftp.password=@password.txt --cell production-us',
        ],
        [oneCell],
      ),
      profiles(
        'exportProfile',
        'export <account>',
        'print the profile of a link as a file for "links import"; masks stand for secrets',
        ['links export ACCOUNT_ID --cell production-us > profile.json'],
        [oneCell, alwaysJson],
      ),
      profiles(
        'importProfile',
        'import <account> <file>',
        'set the profile of a link from a file; a mask keeps the stored secret',
        ['links import ACCOUNT_ID profile.json --cell production-us'],
        [oneCell],
      ),
      profiles('printPresets', 'presets', 'list the presets of profiles', ['links presets'], [json]),
      profiles(
        'changeMode',
        'mode <account> <mode>',
        'set the mode of a link: off, test, shadow, live_for_team or live',
        ['links mode ACCOUNT_ID live_for_team --team TEAM_ID --cell production-us'],
        [['--team <id>', 'the team of live_for_team'], oneCell],
      ),
      compendium(
        'importList',
        'compendium <account> <file>',
        "compare a laboratory's list of tests (CSV) with the catalog and the profile, and apply the difference",
        [
          'links compendium ACCOUNT_ID tests.csv --results results.csv --map columns.json --cell production-us',
          'links compendium ACCOUNT_ID tests.csv --results results.csv --map columns.json --apply --cell production-us',
        ],
        [
          ['--results <file>', 'CSV of result codes (default: the file has them)'],
          ['--questions <file>', 'CSV of questions at order entry'],
          ['--map <file>', "JSON with the laboratory's names of columns"],
          ['--apply', 'apply the difference; without it nothing is changed'],
          oneCell,
          json,
        ],
      ),
      trials(
        'check',
        'check <account>',
        'check a link step by step up to an echo that the laboratory acknowledges, and say what to do for each step that fails',
        ['links check ACCOUNT_ID --cell production-us'],
        [oneCell, json],
      ),
      trials(
        'sendTrial',
        'trial <account>',
        'send ten fictional orders over a link in mode test, and print what the laboratory answered',
        ['links trial ACCOUNT_ID --cell production-us', 'links trial ACCOUNT_ID --test 001453 --test 005009 --save trial'],
        [
          ['--test <code>...', 'code of a test to order (default: tests of the catalog)'],
          ['--save <folder>', 'also write each message as a file into a folder'],
          oneCell,
          json,
        ],
      ),
      trials(
        'printReport',
        'trial-report <account>',
        'print what came back of the last trial: answers, and results that the laboratory sent',
        ['links trial-report ACCOUNT_ID --html > report.html'],
        [['--html', 'print a page for the laboratory'], oneCell, json],
      ),
      trials(
        'printShadow',
        'shadow <account>',
        'compare the results of a link in mode shadow with those that staff of a team entered',
        ['links shadow ACCOUNT_ID --team TEAM_ID --cell production-us'],
        [['--team <id>', 'the team (required)'], oneCell, json],
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
        ['links messages --state failed --cell production-us', 'links messages --order ORDER_ID'],
        [
          ['--account <id>', 'those of a lab account'],
          ['--order <id>', 'those about an order'],
          ['--state <state>', 'those in a state, such as failed or sent'],
          ['--direction <way>', '"in" or "out"'],
          ['--limit <number>', '1 to 250; default: 50'],
          oneCell,
          json,
        ],
      ),
      links(
        'printMessage',
        'message <id>',
        'print a message as text, with its answer',
        ['links message MESSAGE_ID --cell production-us', 'links message MESSAGE_ID --output message.txt'],
        [['--output <file>', 'write its bytes to a new file instead'], oneCell],
      ),
      links('replay', 'replay <id>', 'process a message again', ['links replay MESSAGE_ID --cell production-us'], [oneCell]),
      links(
        'sendOrder',
        'send-order <order>',
        'send an order again that the laboratory refused or that could not be written',
        ['links send-order ORDER_ID --team TEAM_ID --cell production-us'],
        [['--team <id>', 'the team of the order (required)'], oneCell],
      ),
      links(
        'resendMessage',
        'resend <id>',
        'send a message to a laboratory again',
        ['links resend MESSAGE_ID --cell production-us'],
        [oneCell],
      ),
      links(
        'markDone',
        'done <id>',
        'mark a message or an issue as done',
        ['links done MESSAGE_ID --cell production-us'],
        [['--comment <text>', 'what was done, without patient data'], oneCell],
      ),
      links(
        'printIssues',
        'issues',
        'list what a person must look at on links, and what to do',
        ['links issues --cell production-us', 'links issues --reason unknown_code'],
        [
          ['--account <id>', 'those of a lab account'],
          ['--reason <reason>', 'those with a reason'],
          ['--state <state>', '"open" (default) or "done"'],
          ['--limit <number>', '1 to 250; default: 50'],
          oneCell,
          json,
        ],
      ),
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
