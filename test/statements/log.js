// Has a process append each statement text that the program sends, once, to a file of its own in `?folder=FOLDER`. Values are not part of a
// text. JavaScript, as `relative-imports.js`, which imports it.
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'

const folder = new URL(import.meta.url).searchParams.get('folder')
const file = join(folder, `${process.pid}-${randomUUID()}.jsonl`)
const known = new Set()
/** Connections that see the rows of one team: they prepare its setting first. */
const ofTeams = new WeakSet()

globalThis[Symbol.for('drawbridge.logStatement')] = (client, statement, ...others) => {
  if (client.constructor.name !== 'DatabaseConnection') return
  // `query` of a pool of pg sends so, which tests alone use. The stack does not show them: the pool lends its connection later.
  if (others.length) return
  const { name, text } = typeof statement === 'string' ? { text: statement } : statement
  if (name === 'drawbridge team') ofTeams.add(client)
  const reach = ofTeams.has(client) ? 'team' : 'cell'
  if (known.has(`${reach} ${text}`)) return
  known.add(`${reach} ${text}`)
  if (isOfTest()) return
  // Without a name: a connection of a test to no cell.
  const schema = client.connectionParameters.application_name?.split(' ').at(-2)
  if (schema === undefined) return
  appendFileSync(file, `${JSON.stringify({ schema, reach, text })}\n`)
}

/** Whether the caller of `src/platform/db` is a test. A deferred write has no caller any more. */
function isOfTest() {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  const frames = new Error().stack.split('\n').filter((frame) => /file:.*\/(src|test|bench)\//.test(frame))
  Error.stackTraceLimit = stackTraceLimit
  const caller = frames.find((frame) => !/\/test\/statements\/|\/src\/platform\/db\/[\w-]+(?<!\.test)\.ts/.test(frame))
  return caller !== undefined && /\/(test|bench)\/|\.test\.ts/.test(caller)
}

const CLIENT = `
const { query } = Client.prototype
Client.prototype.query = function (...args) {
  globalThis[Symbol.for('drawbridge.logStatement')](this, ...args)
  return query.apply(this, args)
}`

module.registerHooks?.({
  load(url, context, next) {
    const loaded = next(url, context)
    return url.endsWith('/node_modules/pg/lib/client.js') ? { ...loaded, source: String(loaded.source) + CLIENT } : loaded
  },
})
