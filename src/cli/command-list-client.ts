// Commands that are clients of a running server.
import type { Method } from './client/api-request.ts'
import { alwaysJson, oneCell, type Group, type Leaf, type OptionText } from './command-tree.ts'

const json: OptionText = ['--json', 'print JSON']

const remote: OptionText[] = [
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
      ...remote,
    ],
    examples,
    run: async (typed, context) => (await import('./client/api-request.ts')).apiRequest(method)(typed, context),
  }
}

const requests: Leaf[] = [
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

const clock: Group = {
  usage: 'clock',
  summary: "a sandbox team's clock",
  commands: [
    {
      usage: 'show',
      summary: 'print the time of the team',
      options: [json, ...remote],
      examples: ['clock show', 'clock show --json'],
      run: async (typed, context) => (await import('./client/clock.ts')).show(typed, context),
    },
    {
      usage: 'advance <time...>',
      summary: 'advance the clock; what becomes due runs in order, each at its time',
      about: 'The time is a number of seconds, or words. The clock of a team moves forward only.',
      options: [json, ...remote],
      examples: ['clock advance 2 days', 'clock advance 1 hour 30 minutes', 'clock advance 3600 --json'],
      run: async (typed, context) => (await import('./client/clock.ts')).advance(typed, context),
    },
  ],
}

const management: OptionText[] = [
  ['--management-key <key>', 'the management key (DRAWBRIDGE_MANAGEMENT_KEY)'],
  ['--org <id>', 'the organization'],
  ['--team <id>', 'the team'],
]

export const running: (Leaf | Group)[] = [
  {
    usage: 'listen',
    summary: 'print events of a team as they occur',
    options: [
      ['--forward-to <url>', 'forward the events to this URL, signed'],
      ['--events <types>', 'only these types, with commas between them'],
      ['--secret <secret>', 'signing secret, whsec_… (default: one of DATA_DIR, the same in every run)'],
      ['--print-payload', 'print the body of each event, too; it may be personal data'],
      ...remote,
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
    options: [['--users <count>', 'how many users (default: 5, at most 40)'], json, ...remote],
    examples: ['seed', 'seed --users 20', 'seed --cell sandbox-eu --json'],
    run: async (typed, context) => (await import('./client/seed.ts')).seed(typed, context),
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
      ...remote,
      ...management,
    ],
    examples: [
      'trigger labtest.result.critical',
      'trigger labtest.order.created --override passthrough=blue',
      'trigger --list',
      'trigger --list --json',
    ],
    run: async (typed, context) => (await import('./client/trigger.ts')).trigger(typed, context),
  },
]

export const looking: (Leaf | Group)[] = [
  clock,
  ...requests,
  {
    usage: 'open',
    summary: 'open the API page of a running server in a browser, and print its address',
    options: [['--print', 'print the address only, as without a terminal'], ...remote],
    examples: ['open', 'open --print'],
    run: async ({ values }, context) => (await import('./client/open.ts')).openPage(values, context),
  },
  {
    usage: 'status',
    summary: 'show whether a running server answers, is ready, and takes the key',
    about: 'With --env it prints the address and the key for the environment of a shell, and asks the server nothing.',
    options: [['--env', 'print DRAWBRIDGE_URL and DRAWBRIDGE_KEY, to be sourced'], json, ...remote],
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
      ...remote,
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
          ...remote,
        ],
        examples: ['events list', 'events list --type labtest.order.created --limit 5', 'events list --object ORDER_ID --json'],
        run: async (typed, context) => (await import('./client/events.ts')).list(typed, context),
      },
      {
        usage: 'show <id>',
        summary: 'print an event as JSON',
        options: [alwaysJson, ...remote],
        examples: ['events show EVENT_ID'],
        run: async (typed, context) => (await import('./client/events.ts')).show(typed, context),
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
          ...management,
        ],
        examples: ['events resend EVENT_ID', 'events resend EVENT_ID --endpoint ENDPOINT_ID --cell production-us'],
        run: async (typed, context) => (await import('./client/resend.ts')).resend(typed, context),
      },
    ],
  },
]

/** Files that people bring along. */
export const userFiles: Leaf[] = [
  {
    usage: 'import <file>',
    summary: "import a user's file of health data: an Apple Health export, FIT, TCX or GPX",
    about: 'The file is sent in parts; the server imports it in the background, and its progress is printed until it ends.',
    options: [['--user <id>', 'the user (required)'], ['--json', 'print the last state of the import as JSON'], ...remote],
    examples: ['import --user USER_ID export.zip', 'import --user USER_ID run.fit --url https://lab.example.org --key sk_us_…'],
    run: async (typed, context) => (await import('./client/import-file.ts')).importFile(typed, context),
  },
]
