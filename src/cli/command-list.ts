// Every command. Its implementation is imported when it runs: `start`, `serve` and `work` import no other command, and help imports
// nothing.
import { version } from '../platform/runtime/version.ts'
import type { Method } from './client/api-request.ts'
import { catalogs, directories, laboratories, operations, results, tenants } from './command-list-database.ts'
import {
  alwaysJson,
  type CommandContext,
  type Group,
  json,
  type Leaf,
  oneCell,
  type OptionText,
  type Typed,
  UsageError,
} from './command-tree.ts'

const port: OptionText = ['--port <port>', 'listen on this port, 0 for a free one (in place of PORT; 8080 without either)']
const dataDir: OptionText = ['--data-dir <folder>', 'the folder of the data (in place of DATA_DIR; ./data without either)']

/** The settings that the options of a command set. */
const settingsOf = (
  { values }: Typed<{ port?: string; dataDir?: string }>,
  env: CommandContext['env'],
): CommandContext['env'] => ({
  ...env,
  ...(values.port !== undefined && { PORT: values.port }),
  ...(values.dataDir !== undefined && { DATA_DIR: values.dataDir }),
})

const role = (usage: 'start' | 'serve' | 'work', summary: string, about: string, examples: string[]): Leaf => ({
  usage,
  summary,
  about,
  options: usage === 'work' ? [dataDir] : [port, dataDir],
  examples,
  run: async (input, { env }) => {
    // The modules of the server take a second to load: invalid settings are reported before.
    const { readConfig } = await import('../settings/config.ts')
    const config = readConfig(settingsOf(input, env))
    const { run } = await import('./commands/start.ts')
    await run(config, { serve: usage !== 'work', work: usage !== 'serve' })
  },
})

const reports: Group = {
  usage: 'report',
  summary: 'how lab reports are read',
  commands: [
    {
      usage: 'explain <file>',
      summary: 'print what each stage of reading makes of a PDF or an image',
      about:
        'Pages, lines, columns, rows, LOINC candidates, findings and results. It needs no server and sends nothing anywhere. What it prints and draws is what the report says of its patient. It ends with 1 for a file with which a job fails.',
      options: [['--out <folder>', 'draw each page with the boxes of the stages into this folder, as PNG'], json],
      examples: ['report explain report.pdf', 'report explain report.pdf --out pictures', 'report explain scan.png --json'],
      run: async (input, { env, print }) => {
        const { readConfig } = await import('../settings/config.ts')
        const { report_ocr_models: ocr_models } = readConfig(env)
        await (await import('./commands/report.ts')).explainReport(input, { ocr_models, print })
      },
    },
  ],
}

const descriptionCommands: Leaf[] = [
  {
    usage: 'completion <shell>',
    summary: 'print a script by which a shell completes commands and options: bash, zsh or fish',
    examples: ['completion bash > ~/.local/share/bash-completion/completions/drawbridge', 'completion fish'],
    run: async ({ args: [shell] }, { print }) => {
      const { completionScript, shells } = await import('./completion.ts')
      const known = shells.find((name) => name === shell)
      if (!known) throw new UsageError(`The shell must be one of ${shells.join(', ')}.`)
      await print(completionScript(tree, known))
    },
  },
  {
    usage: 'openapi',
    summary: 'print the OpenAPI document, which is JSON',
    examples: ['openapi > openapi.json'],
    run: async (_, { print }) => {
      const [{ contents }, { describeApi }] = await Promise.all([import('../app/contents.ts'), import('../app/describe-api.ts')])
      await print(`${JSON.stringify(describeApi(contents, version), null, 2)}\n`)
    },
  },
  {
    usage: 'operations',
    summary: 'print one line per operation',
    options: [json],
    examples: ['operations', 'operations --json'],
    run: async ({ values }, { print }) => {
      const [{ contents }, { listOperations }] = await Promise.all([
        import('../app/contents.ts'),
        import('../platform/http/openapi.ts'),
      ])
      const listed = contents.operations.map(({ id, method, path }) => ({ id, method, path }))
      if (values.json) return print(`${JSON.stringify(listed, null, 2)}\n`)
      await print(listOperations(contents.operations))
    },
  },
  {
    usage: 'version',
    summary: 'print the version',
    examples: ['version'],
    run: async (_, { print }) => print(`${version}\n`),
  },
]

const serverCommands: Leaf[] = [
  role(
    'start',
    'run database migrations, then server and worker in one process',
    'This is "npm start". Without DATABASE_URL the database is in DATA_DIR; the first start makes it.',
    ['start', 'start --port 3000 --data-dir /srv/drawbridge'],
  ),
  role('serve', 'run the server alone', 'The database must be there and migrated.', ['serve', 'serve --port 3000']),
  role('work', 'run the worker alone', 'The database must be there and migrated.', ['work']),
  {
    usage: 'migrate',
    summary: 'run database migrations and exit',
    about: 'With DATABASE_URL or in the folder that DATA_DIR names; there the first run makes the database.',
    options: [dataDir],
    examples: ['migrate', 'migrate --data-dir /srv/drawbridge'],
    run: async (input, { env, print }) => (await import('./commands/start.ts')).migrateOnly(settingsOf(input, env), print),
  },
  {
    usage: 'backup <folder>',
    summary: 'copy the bundled database into a new folder, while everything runs',
    about: 'The encryption keys are not in it: keep them in another place.',
    options: [json],
    examples: ['backup /backups/2026-01-31', 'backup /backups/2026-01-31 --json'],
    run: async (input, context) => (await import('./commands/backup.ts')).backUp(input, context),
  },
  {
    usage: 'restore <folder>',
    summary: 'put the database of a backup into DATA_DIR, which must have none',
    about: 'Stop Drawbridge, and move the folder "postgres" of DATA_DIR away first. The next start continues from the backup.',
    examples: ['restore /backups/2026-01-31'],
    run: async (input, context) => (await import('./commands/backup.ts')).restore(input, context),
  },
  {
    usage: 'reset',
    summary: 'make the demo again as its first start makes it, with the same keys',
    about: 'It deletes the bundled database of the demo. Stop the server first.',
    options: [['--yes', 'delete without asking']],
    examples: ['reset', 'reset --yes'],
    run: async (input, context) => (await import('./commands/reset.ts')).reset(input, context),
  },
]

const remoteOptions: OptionText[] = [
  oneCell,
  ['--url <url>', 'the server (default: that of DATA_DIR; also DRAWBRIDGE_URL)'],
  ['--key <key>', 'the key for it (DRAWBRIDGE_KEY)'],
]

/** A command that sends a request to a path. */
const requestLeaf = (method: Method, summary: string, examples: string[]): Leaf => {
  const word = method.toLowerCase()
  const hasBody = method !== 'GET'
  return {
    usage: `${word} <path>`,
    summary,
    about:
      'The response is printed as JSON. Paths of the Management API (/v1/org) get the management key: that of the demo, of DRAWBRIDGE_MANAGEMENT_KEY or of --key.',
    options: [
      ...(hasBody
        ? ([
            ['--data <json>', 'the body: JSON, or @ and the name of a file'],
            ['--set <path=value>...', 'set a field of the body; a value is JSON, or else text'],
          ] satisfies OptionText[])
        : []),
      ['--out <file>', 'write the response to a new file, a PDF for example'],
      ...remoteOptions,
    ],
    examples,
    run: async (input, context) => (await import('./client/api-request.ts')).apiRequest(method)(input, context),
  }
}

const requestCommands: Leaf[] = [
  requestLeaf('GET', 'read from the API with the key', [
    'get /v3/lab_tests',
    'get "/v3/orders?size=5" --cell sandbox-eu',
    'get /v3/order/ORDER_ID/result/pdf --out result.pdf',
  ]),
  requestLeaf('POST', 'post to the API with the key', [
    'post /v2/user --set client_user_id=patient-1',
    'post /v3/order --data @order.json --set passthrough=blue',
  ]),
  requestLeaf('PUT', 'put to the API with the key', ['put /v2/user/USER_ID/file_import/IMPORT_ID --data @part.json']),
  requestLeaf('PATCH', 'change by the API with the key', ['patch /v2/user/USER_ID --set client_user_id=patient-2']),
  requestLeaf('DELETE', 'delete by the API with the key', ['delete /v2/user/USER_ID']),
]

const clockCommands: Group = {
  usage: 'clock',
  summary: "a sandbox team's clock",
  commands: [
    {
      usage: 'show',
      summary: 'print the time of the team',
      options: [json, ...remoteOptions],
      examples: ['clock show', 'clock show --json'],
      run: async (input, context) => (await import('./client/clock.ts')).show(input, context),
    },
    {
      usage: 'advance <time...>',
      summary: 'advance the clock; what becomes due runs in order, each at its time',
      about: 'The time is a number of seconds, or words. The clock of a team moves forward only.',
      options: [json, ...remoteOptions],
      examples: ['clock advance 2 days', 'clock advance 1 hour 30 minutes', 'clock advance 3600 --json'],
      run: async (input, context) => (await import('./client/clock.ts')).advance(input, context),
    },
  ],
}

const managementOptions: OptionText[] = [
  ['--management-key <key>', 'the management key (DRAWBRIDGE_MANAGEMENT_KEY)'],
  ['--org <id>', 'the organization'],
  ['--team <id>', 'the team'],
]

const clientCommands: (Leaf | Group)[] = [
  {
    usage: 'listen',
    summary: 'print events of a team as they occur',
    options: [
      ['--forward-to <url>', 'forward the events to this URL, signed'],
      ['--events <types>', 'only these types, with commas between them'],
      ['--secret <secret>', 'signing secret, whsec_… (default: one of DATA_DIR, the same in every run)'],
      ['--print-payload', 'print the body of each event, too; it may be personal data'],
      ...remoteOptions,
    ],
    examples: [
      'listen',
      'listen --forward-to http://localhost:3000/hook',
      'listen --events labtest.order.created --print-payload',
    ],
    run: async ({ values }, { env, out, untilStopped }) => {
      const signal = untilStopped()
      await (await import('./client/listen.ts')).listen(values, { env, out, signal })
    },
  },
  {
    usage: 'seed',
    summary: 'fill a running sandbox with fictional patients, orders, results and health data',
    about:
      'Users seed-1, seed-2 and so on: each with a completed order, a kit that is on its way, and 30 days of a wearable. Users that are there already are left as they are.',
    options: [['--users <count>', 'how many users (default: 5, at most 40)'], json, ...remoteOptions],
    examples: ['seed', 'seed --users 20', 'seed --cell sandbox-eu --json'],
    run: async (input, context) => (await import('./client/seed.ts')).seed(input, context),
  },
  {
    usage: 'trigger [type]',
    summary: 'trigger an event of this type in a running sandbox',
    about:
      '--override sets a field of the request that creates the object, by its path: patient_details.first_name=Fiona, data.0.value=72. A value is JSON, or else text. The change of a query takes the management key, the organization and the team, unless they are those of the demo.',
    options: [
      ['--list', 'list event types that can be triggered'],
      ['--override <path=value>...', 'set a field'],
      json,
      ...remoteOptions,
      ...managementOptions,
    ],
    examples: [
      'trigger labtest.result.critical',
      'trigger labtest.order.created --override passthrough=blue',
      'trigger --list',
      'trigger --list --json',
    ],
    run: async (input, context) => (await import('./client/trigger.ts')).trigger(input, context),
  },
]

const inspectionCommands: (Leaf | Group)[] = [
  clockCommands,
  ...requestCommands,
  {
    usage: 'open',
    summary: 'open the API page of a running server in a browser, and print its address',
    options: [['--print', 'print the address only, as without a terminal'], ...remoteOptions],
    examples: ['open', 'open --print'],
    run: async ({ values }, context) => (await import('./client/open.ts')).openPage(values, context),
  },
  {
    usage: 'status',
    summary: 'show whether a running server answers, is ready, and takes the key',
    about: 'With --env it prints the address and the key for the environment of a shell, and asks the server nothing.',
    options: [['--env', 'print DRAWBRIDGE_URL and DRAWBRIDGE_KEY, to be sourced'], json, ...remoteOptions],
    examples: ['status', 'status --cell sandbox-eu', 'status --env > drawbridge.env'],
    run: async ({ values }, context) => (await import('./client/status.ts')).status(values, context),
  },
  {
    usage: 'logs',
    summary: 'print requests to a running sandbox as they come, until Ctrl-C',
    about:
      'Time (UTC), status, duration, method, path and reason of a refusal. They are the requests with keys of one team that this process of the server answered.',
    options: [
      ['--last <count>', 'begin with so many earlier requests (default: 10, at most 200)'],
      ['--once', 'print the earlier requests only'],
      ['--json', 'print each request as JSON on a line'],
      ...remoteOptions,
    ],
    examples: ['logs', 'logs --once --last 50', 'logs --json'],
    run: async ({ values }, { env, out, untilStopped, isTerminal }) => {
      const signal = values.once ? AbortSignal.abort() : untilStopped()
      await (await import('./client/logs.ts')).logs(values, { env, out, signal, isTerminal })
    },
  },
  {
    usage: 'keys',
    summary: "print the keys of the demo, which 'start' created",
    options: [json],
    examples: ['keys', 'keys --json'],
    run: async ({ values }, context) => (await import('./client/status.ts')).keys(values, context),
  },
  {
    usage: 'events',
    summary: 'the events of a team',
    commands: [
      {
        usage: 'list',
        summary: 'list the newest events, newest first: time, id, type, status and id of the object',
        options: [
          ['--type <type>', 'only this type'],
          ['--object <id>', 'only events about this object'],
          ['--limit <count>', 'how many (default: 20, at most 1000)'],
          ['--json', 'print whole events as JSON'],
          ...remoteOptions,
        ],
        examples: ['events list', 'events list --type labtest.order.created --limit 5', 'events list --object ORDER_ID --json'],
        run: async (input, context) => (await import('./client/events.ts')).list(input, context),
      },
      {
        usage: 'show <id>',
        summary: 'print an event as JSON',
        options: [alwaysJson, ...remoteOptions],
        examples: ['events show EVENT_ID'],
        run: async (input, context) => (await import('./client/events.ts')).show(input, context),
      },
      {
        usage: 'resend <id>',
        summary: 'send an event again to the webhook endpoints that it was sent to',
        about: 'It needs a management key, and the organization and team, unless they are those of the demo.',
        options: [
          ['--endpoint <id>', 'only to this endpoint'],
          json,
          oneCell,
          ['--url <url>', 'the server (default: that of DATA_DIR; also DRAWBRIDGE_URL)'],
          ...managementOptions,
        ],
        examples: ['events resend EVENT_ID', 'events resend EVENT_ID --endpoint ENDPOINT_ID --cell production-us'],
        run: async (input, context) => (await import('./client/resend.ts')).resend(input, context),
      },
    ],
  },
]

/** Files that people bring along. */
const userFileCommands: Leaf[] = [
  {
    usage: 'import <file>',
    summary: "import a user's file of health data: an Apple Health export, FIT, TCX or GPX",
    about: 'The file is sent in parts; the server imports it in the background, and its progress is printed until it ends.',
    options: [['--user <id>', 'the user (required)'], ['--json', 'print the last state of the import as JSON'], ...remoteOptions],
    examples: ['import --user USER_ID export.zip', 'import --user USER_ID run.fit --url https://lab.example.org --key sk_us_…'],
    run: async (input, context) => (await import('./client/import-file.ts')).importFile(input, context),
  },
]

/** The commands of one task of the user, which the help lists together. */
const inTask = (task: string, nodes: (Leaf | Group)[]): (Leaf | Group)[] => nodes.map((node) => ({ ...node, task }))

export const tree: Group = {
  usage: 'drawbridge',
  summary: 'self-hosted server for laboratory testing and health data',
  about:
    'Settings are read from environment variables; see docs/operating/settings.md. Commands end with 0, 1 (failed) or 2 (wrong usage).',
  commands: [
    ...inTask('Run a server', serverCommands),
    ...inTask('Try and test a program', [...clientCommands, ...inspectionCommands, ...userFileCommands]),
    ...inTask('Organizations, teams and keys', tenants),
    ...inTask('Laboratories and their results', [...laboratories, ...catalogs, ...results]),
    ...inTask('Directories', directories),
    ...inTask('Operate', operations),
    ...inTask('Look things up', [reports, ...descriptionCommands]),
  ],
}
