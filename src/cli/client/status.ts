// `bin/drawbridge status` and `keys`: where the server of this folder is, how it is, and with which keys it is called.
import { readDemo } from '../demo-file.ts'
import type { ClientContext } from '../command-tree.ts'
import { NoResponseError, createApiClient, request, type RemoteValues } from './api-client.ts'
import type { KnownCell } from '../../settings/cells.ts'

/**
 * Prints whether the server answers, is ready, and takes the key.
 * @throws UsageError; Error if it does not answer, is not ready or refuses the key, after what was found is printed
 */
export async function status(
  values: RemoteValues & { env?: boolean; json?: boolean },
  { env, printNow }: ClientContext,
): Promise<void> {
  const remote = createApiClient(values, env)
  if (values.env) return printNow(`export DRAWBRIDGE_URL=${quote(remote.url)}\nexport DRAWBRIDGE_KEY=${quote(remote.key)}\n`)
  let failure: NoResponseError | undefined
  const statusOf = async (path: string): Promise<number | string> => {
    try {
      return (await request(remote, 'GET', path)).status
    } catch (error) {
      if (error instanceof NoResponseError) failure = error
      if (error instanceof NoResponseError) return error.reason
      throw error
    }
  }
  const answers = { readiness: await statusOf('/readyz'), key: await statusOf('/v3/lab_tests?limit=1') }
  const state = {
    url: remote.url,
    // With a port for operators, readiness is not here.
    is_ready: answers.readiness === 404 ? Number(answers.key) < 500 : answers.readiness === 200,
    is_key_valid: answers.key === 200,
  }
  if (values.json) printNow(`${JSON.stringify(state, null, 2)}\n`)
  else {
    const ready = state.is_ready ? 'ready' : `not ready (${answers.readiness})`
    const key = state.is_key_valid ? 'valid' : failure ? 'not checked' : `not accepted (${answers.key})`
    printNow(`Server  ${remote.url}  ${ready}\nKey     ${key}\n`)
  }
  if (failure) throw failure
  if (!state.is_ready) throw new Error(`${remote.url} is not ready.`)
  if (!state.is_key_valid) throw new Error(`${remote.url} does not accept the key.`)
}

/** For a shell: nothing in it is expanded. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Prints the keys of the demo. @throws Error without a demo */
export function keys(values: { json?: boolean }, { env, printNow }: ClientContext): void {
  const demo = readDemo(env.DATA_DIR?.trim() || './data')
  if (!demo) throw new Error('No demo data found in DATA_DIR. "key list" lists the keys of a team without their text.')
  const { api_keys, management_key } = demo
  if (values.json) return printNow(`${JSON.stringify({ api_keys, management_key }, null, 2)}\n`)
  for (const cell of Object.keys(api_keys).sort() as KnownCell[]) printNow(`${cell.padEnd(14)}  ${api_keys[cell]}\n`)
  printNow(`${'management'.padEnd(14)}  ${management_key}\n`)
}
