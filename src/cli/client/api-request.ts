// `bin/drawbridge get`, `post`, `put`, `patch` and `delete`: a request to a running server with its key, as any client sends it.
import { readFile, writeFile } from 'node:fs/promises'
import { UsageError, type ClientContext, type Typed } from '../command-tree.ts'
import { createApiClient, request, type ApiClient, type ApiResponse, type RemoteValues } from './api-client.ts'
import { applyOverrides, parseOverrides } from './overrides.ts'
import { readDemo } from '../demo-file.ts'
import { decodeUtf8 } from '../../platform/runtime/utf8.ts'

const FILE_SIZE_MAX = 10 * 1024 * 1024

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Values extends RemoteValues {
  out?: string
  data?: string
  set?: string[]
}

/**
 * Sends a request and prints the JSON of the response, or its text. A path of the Management API has the management key, any other the key of
 * the team. @throws UsageError; Error if the response is not a success, after its body is printed, or if it is neither JSON nor text and goes to no file
 */
export const apiRequest =
  (method: Method) =>
  async ({ args, values }: Typed<Values>, { env, printNow }: ClientContext): Promise<void> => {
    const path = args[0]!
    // Any other word would send the key to the host that it names.
    if (!path.startsWith('/')) throw new UsageError('The path must start with a slash, such as /v3/lab_tests.')
    const body = await bodyOf(values)
    const answer = await request(clientFor(path, values, env), method, path, { ...(body !== undefined && { body }) })
    await printResponse(answer, values, printNow)
    if (answer.status < 200 || answer.status > 299) throw new Error(`The server responded ${answer.status}.`)
  }

async function printResponse(
  { body, content_type, bytes }: ApiResponse,
  { out: file }: Values,
  printNow: (text: string) => void,
): Promise<void> {
  if (file !== undefined)
    return writeFile(file, bytes, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`The file cannot be written (${error.code ?? error.name}).`)
    })
  if (body !== undefined) return printNow(`${JSON.stringify(body, null, 2)}\n`)
  if (bytes.length === 0) return
  if (!/^(text\/|application\/(x-ndjson|fhir\+json|xml))/.test(content_type))
    throw new Error(`The response is ${content_type || 'of no type'}: --out writes it to a file.`)
  printNow(`${Buffer.from(bytes).toString().trimEnd()}\n`)
}

async function bodyOf({ data, set }: Values): Promise<unknown> {
  const overrides = parseOverrides(set, '--set')
  if (data === undefined) return overrides.length ? applyOverrides({}, overrides) : undefined
  const text = data.startsWith('@') ? await fileText(data.slice(1)) : data
  try {
    return applyOverrides(JSON.parse(text), overrides)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError('--data must be JSON, or @ and the name of a file with JSON.')
  }
}

async function fileText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The file cannot be read (${error.code ?? error.name}).`)
  })
  if (bytes.length > FILE_SIZE_MAX) throw new Error(`The file has more than ${FILE_SIZE_MAX} bytes.`)
  const text = decodeUtf8(bytes)
  if (!text.isWellFormed()) throw new UsageError('The file must be UTF-8.')
  return text
}

/** The Management API takes its own keys, in another header; they have no cell. */
function clientFor(path: string, values: Values, env: ClientContext['env']): ApiClient {
  if (!/^\/v1\/org(\/|$)/.test(path)) return createApiClient(values, env)
  const demo = () => readDemo(env.DATA_DIR?.trim() || './data')
  const key = values.key ?? env.DRAWBRIDGE_MANAGEMENT_KEY ?? demo()?.management_key
  if (key === undefined) throw new Error('No demo data found in DATA_DIR. Specify --key or DRAWBRIDGE_MANAGEMENT_KEY.')
  const { cell: _, ...others } = values
  return { ...createApiClient({ ...others, key }, env), key_header: 'x-management-key' }
}
