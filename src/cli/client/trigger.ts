// `bin/drawbridge trigger`: triggers an event in a running sandbox over HTTP, as real requests would, with fictional people. It sends only
// events that really happened: the test of an endpoint sends a sample of any type.
import { UsageError, type ClientContext, type Typed } from '../command-tree.ts'
import { createApiClient, type RemoteValues } from './api-client.ts'
import { openManagement, type ManagedValues } from './management.ts'
import { parseOverrides } from './overrides.ts'
import { Sandbox } from './sandbox.ts'
import { reasonsNotTriggerable, scenarios } from './scenarios.ts'

/**
 * Runs `trigger`: returns after the event was emitted. @throws UsageError for an unrecognized type, Error for a type that cannot be
 * triggered
 */
export async function trigger(
  { args, values }: Typed<RemoteValues & ManagedValues & { list?: boolean; json?: boolean; override?: string[] }>,
  { env, printNow }: ClientContext,
): Promise<void> {
  if (values.list) {
    const listed = Object.entries(scenarios).map(([name, { tells }]) => ({ type: name, description: tells }))
    const others = Object.entries(reasonsNotTriggerable).map(([name, reason]) => ({ type: name, reason }))
    if (values.json) return printNow(`${JSON.stringify([...listed, ...others], null, 2)}\n`)
    const width = Math.max(...[...listed, ...others].map(({ type }) => type.length))
    for (const { type, description } of listed) printNow(`${type.padEnd(width)}  ${description}\n`)
    printNow('\nThese cannot be triggered:\n')
    for (const { type, reason } of others) printNow(`${type.padEnd(width)}  ${reason}\n`)
    return
  }
  const [type, ...more] = args
  if (type === undefined || more.length)
    throw new UsageError('trigger needs one type of event; "bin/drawbridge trigger --list" lists them.')
  const scenario = scenarios[type]
  if (!scenario) {
    if (reasonsNotTriggerable[type] === undefined)
      throw new UsageError(`Unrecognized event type ${type}; "bin/drawbridge trigger --list" lists them.`)
    throw new Error(`Event type ${type} cannot be triggered: ${reasonsNotTriggerable[type]}.`)
  }
  const sandbox = new Sandbox(createApiClient(values, env), parseOverrides(values.override), () => openManagement(values, env))
  await sandbox.assertSandbox()
  const { id, previousEventId } = await scenario.run(sandbox, type)
  const events =
    previousEventId === undefined
      ? await sandbox.waitForEvents(id, type, scenario.finalStatus)
      : await sandbox.eventsSince(previousEventId, type, id)
  if (values.json) return printNow(`${JSON.stringify(events, null, 2)}\n`)
  for (const event of events) printNow(`${event.created_at}  ${event.type}  ${event.object_id}\n`)
}
