// Every command. Its implementation is imported when it runs: `start`, `serve` and `work` import no other command, and help imports
// nothing.
import { version } from '../platform/runtime/version.ts'
import type { Method } from './client/api-request.ts'
import { catalogs, directories, laboratories, operations, tenants } from './command-list-database.ts'
import { results } from './command-list-results.ts'
import {
  alwaysJson,
  type CommandContext,
  type Group,
  json,
  type Leaf,
  oneCell,
  type OptionText,
  remoteOptions,
  type Typed,
  UsageError,
} from './command-tree.ts'

const port: OptionText = ['--port <port>', 'port to listen on, 0 for a free one (overrides PORT; default 8080)']
const dataDir: OptionText = ['--data-dir <folder>', 'data folder (overrides DATA_DIR; default ./data)']

/** The settings that the options of a command set. */
const withOptions = (
  { values }: Typed<{ port?: string; dataDir?: string }>,
  env: CommandContext['env'],
): CommandContext['env'] => ({
  ...env,
  ...(values.port !== undefined && { PORT: values.port }),
  ...(values.dataDir !== undefined && { DATA_DIR: values.dataDir }),
})

const role = (usage: 'start' | 'serve' | 'work', summary: string, details: string, examples: string[]): Leaf => ({
  usage,
  summary,
  details,
  options: usage === 'work' ? [dataDir] : [port, dataDir],
  examples,
  run: async (input, { env }) => {
    // The modules of the server take a second to load: invalid settings are reported before.
    const { readConfig } = await import('../settings/config.ts')
    const config = readConfig(withOptions(input, env))
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
      summary: 'print the output of each stage that reads a PDF or an image',
      details:
        'Prints pages, lines, columns, rows, LOINC candidates, findings and results, without a server or a network. The output and the pictures contain the patient data of the report. Exits with 1 if the file cannot be read.',
      options: [['--out <folder>', 'write a PNG of each page with the boxes of each stage to this folder'], json],
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
    summary: 'print a completion script for a shell: bash, zsh or fish',
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
    summary: 'print the OpenAPI document as JSON',
    examples: ['openapi > openapi.json'],
    run: async (_, { print }) => {
      const [{ contents }, { describeApi }] = await Promise.all([import('../app/contents.ts'), import('../app/describe-api.ts')])
      await print(`${JSON.stringify(await describeApi(contents, version), null, 2)}\n`)
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
    'Same as "npm start". Without DATABASE_URL, the first start creates a database in DATA_DIR.',
    ['start', 'start --port 3000 --data-dir /srv/drawbridge'],
  ),
  role('serve', 'run the server alone', 'The database must exist and be migrated.', ['serve', 'serve --port 3000']),
  role('work', 'run the worker alone', 'The database must exist and be migrated.', ['work']),
  {
    usage: 'migrate',
    summary: 'run database migrations and exit',
    details: 'Uses DATABASE_URL, or the database in DATA_DIR, which the first run creates.',
    options: [dataDir, ['--engine <engine>', 'citus: distribute the tables, now and in later runs']],
    examples: ['migrate', 'migrate --data-dir /srv/drawbridge', 'migrate --engine citus'],
    run: async (input, { env, print }) =>
      (await import('./commands/start.ts')).migrateOnly(withOptions(input, env), input.values.engine, print),
  },
  {
    usage: 'backup <folder>',
    summary: 'copy the bundled database to a new folder while the server runs',
    details: 'The backup does not contain the encryption keys: store them elsewhere.',
    options: [json],
    examples: ['backup /backups/2026-01-31'],
    run: async (input, context) => (await import('./commands/backup.ts')).backUp(input, context),
  },
  {
    usage: 'restore <folder>',
    summary: 'restore the database of a backup to DATA_DIR, which must not contain one',
    details: 'First stop Drawbridge and move the folder "postgres" out of DATA_DIR. The next start uses the restored database.',
    examples: ['restore /backups/2026-01-31'],
    run: async (input, context) => (await import('./commands/backup.ts')).restore(input, context),
  },
  {
    usage: 'reset',
    summary: 'reset the demo to its first start, with the same keys',
    details: 'Deletes the bundled database of the demo. Stop the server first.',
    options: [['--yes', 'delete without asking']],
    examples: ['reset --yes'],
    run: async (input, context) => (await import('./commands/reset.ts')).reset(input, context),
  },
]

/** A command that sends a request to a path. */
const requestLeaf = (method: Method, summary: string, examples: string[]): Leaf => {
  const word = method.toLowerCase()
  const hasBody = method !== 'GET'
  return {
    usage: `${word} <path>`,
    summary,
    details:
      method === 'GET'
        ? 'Prints the response as JSON. Paths of the Management API (/v1/org) use a management key (--key, DRAWBRIDGE_MANAGEMENT_KEY, or that of the demo).'
        : 'Prints the response and chooses the key as "get" does.',
    options: [
      ...(hasBody
        ? ([
            ['--data <json>', 'body: JSON, or @FILE'],
            ['--set <path=value>...', 'set a field of the body; the value is JSON or text'],
          ] satisfies OptionText[])
        : []),
      ['--out <file>', 'write the response to a new file'],
      ...remoteOptions,
    ],
    examples,
    run: async (input, context) => (await import('./client/api-request.ts')).apiRequest(method)(input, context),
  }
}

const requestCommands: Leaf[] = [
  requestLeaf('GET', 'send a GET request', [
    'get /v3/lab_tests',
    'get "/v3/orders?size=5" --cell sandbox-eu',
    'get /v3/order/ORDER_ID/result/pdf --out result.pdf',
  ]),
  requestLeaf('POST', 'send a POST request', [
    'post /v2/user --set client_user_id=patient-1',
    'post /v3/order --data @order.json --set passthrough=blue',
  ]),
  requestLeaf('PUT', 'send a PUT request', ['put /v2/user/USER_ID/file_import/IMPORT_ID --data @part.json']),
  requestLeaf('PATCH', 'send a PATCH request', ['patch /v2/user/USER_ID --set client_user_id=patient-2']),
  requestLeaf('DELETE', 'send a DELETE request', ['delete /v2/user/USER_ID']),
]

const clockCommands: Group = {
  usage: 'clock',
  summary: "a sandbox team's clock",
  commands: [
    {
      usage: 'show',
      summary: 'print the time of the team clock',
      options: [json, ...remoteOptions],
      examples: ['clock show'],
      run: async (input, context) => (await import('./client/clock.ts')).printClock(input, context),
    },
    {
      usage: 'advance <time...>',
      summary: 'advance the clock and run the jobs that become due, in order, each at its time',
      details: 'The time is a number of seconds, or words. The clock only moves forward.',
      options: [json, ...remoteOptions],
      examples: ['clock advance 2 days', 'clock advance 1 hour 30 minutes', 'clock advance 3600 --json'],
      run: async (input, context) => (await import('./client/clock.ts')).advance(input, context),
    },
  ],
}

const managementOptions: OptionText[] = [
  ['--management-key <key>', 'management key (default: DRAWBRIDGE_MANAGEMENT_KEY, or the demo key)'],
  ['--org <id>', 'organization (default: that of the demo)'],
  ['--team <id>', 'team (default: that of the demo)'],
]

const clientCommands: (Leaf | Group)[] = [
  {
    usage: 'listen',
    summary: 'print events of a team as they occur',
    options: [
      ['--forward-to <url>', 'forward signed events to this URL'],
      ['--events <types>', 'only these types, comma-separated'],
      ['--secret <secret>', 'signing secret, whsec_… (default: a stable one in DATA_DIR)'],
      ['--print-payload', 'also print event bodies, which may contain personal data'],
      ...remoteOptions,
    ],
    examples: [
      'listen',
      'listen --forward-to http://localhost:3000/hook',
      'listen --events labtest.order.created --print-payload',
    ],
    run: async ({ values }, { env, printNow, untilStopped }) => {
      const signal = untilStopped()
      await (await import('./client/listen.ts')).listen(values, { env, printNow, signal })
    },
  },
  {
    usage: 'seed',
    summary: 'fill a running sandbox with fictional patients, orders, results and health data',
    details:
      'Creates users seed-1, seed-2 and so on, each with a completed order, a kit in transit and 30 days of wearable data. Existing users are not changed.',
    options: [['--users <count>', 'number of users (default 5, at most 40)'], json, ...remoteOptions],
    examples: ['seed --users 20', 'seed --cell sandbox-eu'],
    run: async (input, context) => (await import('./client/seed.ts')).seed(input, context),
  },
  {
    usage: 'lab-peer',
    summary: 'play a laboratory that receives orders and reports results in HL7, to try a link',
    details:
      'Accepts orders over MLLP or from a folder, and reports plausible results of the bundled catalog. Commands on the standard input report on an order at once, or change how the next orders are answered: "help" lists them. It is a server without access control: listen only where others cannot connect.',
    options: [
      ['--listen <address>', 'HOST:PORT that receives orders (default 127.0.0.1:2575)'],
      ['--results-to <address>', 'HOST:PORT of the link that receives results'],
      ['--orders <folder>', 'folder with order files, in place of --listen'],
      ['--results <folder>', 'folder for result files, in place of --results-to'],
      ['--lab <slug>', 'laboratory of the catalog whose codes the orders have (default quest)'],
      [
        '--plan <steps>',
        'reports on each order, comma-separated: status, partial, final, incomplete, correct, reject, cancel; or none (default status,final)',
      ],
      ['--pause <seconds>', 'time between two reports (default 2)'],
      ['--interpretation <word>', 'normal, abnormal, critical or unknown results (default normal)'],
      ['--plain-ack', 'answer orders with ACK, without numbers of the laboratory'],
      ['--pdf <file>', 'PDF to send with results'],
      ['--journal <file>', 'file to continue from after a restart; it contains the messages'],
    ],
    examples: [
      'lab-peer --results-to 127.0.0.1:2576',
      'lab-peer --results-to 127.0.0.1:2576 --plan none --journal lab.jsonl',
      'lab-peer --orders /srv/lab/orders --results /srv/lab/results --plan status,partial,final,correct --pause 60',
    ],
    run: async ({ values }, { printNow, untilStopped }) => {
      const context = { signal: untilStopped(), commands: process.stdin, printNow }
      await (await import('./commands/lab-peer.ts')).runLabPeer(values, context)
    },
  },
  {
    usage: 'trigger [type]',
    summary: 'trigger an event of this type in a running sandbox',
    details:
      '--override sets a field of the request that creates the object: patient_details.first_name=Fiona, data.0.value=72. The value is JSON or text. Events of queries need the management key, organization and team.',
    options: [
      ['--list', 'list event types that can be triggered'],
      ['--override <path=value>...', 'set a field'],
      json,
      ...remoteOptions,
      ...managementOptions,
    ],
    examples: ['trigger labtest.result.critical', 'trigger labtest.order.created --override passthrough=blue', 'trigger --list'],
    run: async (input, context) => (await import('./client/trigger.ts')).trigger(input, context),
  },
]

const inspectionCommands: (Leaf | Group)[] = [
  clockCommands,
  ...requestCommands,
  {
    usage: 'open',
    summary: 'open the API page of a running server in a browser and print its address',
    options: [['--print', 'only print the address'], ...remoteOptions],
    examples: ['open --print'],
    run: async ({ values }, context) => (await import('./client/open.ts')).openPage(values, context),
  },
  {
    usage: 'status',
    summary: 'show whether a server responds, is ready, and accepts the key',
    details: '--env prints the address and the key for a shell, without a request.',
    options: [['--env', 'print DRAWBRIDGE_URL and DRAWBRIDGE_KEY for a shell'], json, ...remoteOptions],
    examples: ['status', 'status --env > drawbridge.env'],
    run: async ({ values }, context) => (await import('./client/status.ts')).status(values, context),
  },
  {
    usage: 'logs',
    summary: 'print requests to a running sandbox as they arrive, until Ctrl-C',
    details:
      'Prints time (UTC), status, duration, method, path and error of requests with keys of one team that this server process handled.',
    options: [
      ['--last <count>', 'number of earlier requests to print first (default 10, at most 200)'],
      ['--once', 'only print earlier requests'],
      ['--json', 'print JSON Lines'],
      ...remoteOptions,
    ],
    examples: ['logs --once --last 50'],
    run: async ({ values }, { env, printNow, untilStopped, isTerminal }) => {
      const signal = values.once ? AbortSignal.abort() : untilStopped()
      await (await import('./client/logs.ts')).logs(values, { env, printNow, signal, isTerminal })
    },
  },
  {
    usage: 'keys',
    summary: 'print the keys of the demo',
    options: [json],
    examples: ['keys'],
    run: async ({ values }, context) => (await import('./client/status.ts')).keys(values, context),
  },
  {
    usage: 'events',
    summary: 'the events of a team',
    commands: [
      {
        usage: 'list',
        summary: 'list the newest events first: time, id, type, status and object id',
        options: [
          ['--type <type>', 'only this type'],
          ['--object <id>', 'only events about this object'],
          ['--limit <count>', 'number of events (default 20, at most 1000)'],
          ['--json', 'print whole events as JSON'],
          ...remoteOptions,
        ],
        examples: ['events list --type labtest.order.created --limit 5', 'events list --object ORDER_ID --json'],
        run: async (input, context) => (await import('./client/events.ts')).printEvents(input, context),
      },
      {
        usage: 'show <id>',
        summary: 'print an event as JSON',
        options: [alwaysJson, ...remoteOptions],
        examples: ['events show EVENT_ID'],
        run: async (input, context) => (await import('./client/events.ts')).printEvent(input, context),
      },
      {
        usage: 'resend <id>',
        summary: 'resend an event to the webhook endpoints that it was sent to',
        details: 'Needs a management key, and the organization and team.',
        options: [
          ['--endpoint <id>', 'only to this endpoint'],
          json,
          oneCell,
          ['--url <url>', 'server URL (default: DRAWBRIDGE_URL, or the server of DATA_DIR)'],
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
    details: 'Sends the file in parts and prints the progress of the import until it ends.',
    options: [['--user <id>', 'the user (required)'], ['--json', 'print the final state as JSON'], ...remoteOptions],
    examples: ['import --user USER_ID export.zip', 'import --user USER_ID run.fit --url https://lab.example.org --key sk_us_…'],
    run: async (input, context) => (await import('./client/import-file.ts')).importFile(input, context),
  },
]

/** The commands of one task of the user, which the help lists together. */
const inTask = (task: string, nodes: (Leaf | Group)[]): (Leaf | Group)[] => nodes.map((node) => ({ ...node, task }))

export const tree: Group = {
  usage: 'drawbridge',
  summary: 'self-hosted server for laboratory testing and health data',
  details:
    'Settings are read from environment variables; see docs/operating/settings.md. Exit codes: 0, 1 (failed), 2 (invalid usage).',
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
