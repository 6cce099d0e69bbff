// Files in a bucket of an S3-compatible object store.
import type { LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'undici'
import { systemNow } from '../runtime/clock.ts'
import { StorageUnavailable, type FileStorage } from './file-storage.ts'
import { encodePath, signRequest, type S3Credentials } from './s3-signature.ts'

export interface S3Settings extends S3Credentials {
  /** The base URL of the store, without the bucket. */
  endpoint: string
  bucket: string
  /** Before the key of each object, such as `drawbridge/`. */
  prefix: string
  /** Whether the bucket is the first part of the host name, and not of the path. */
  virtual_hosts: boolean
}

const CONNECTIONS_MAX = 16
/** Maximum time of one attempt: 30 MiB at 1 MiB/s. */
const ATTEMPT_MS_MAX = 30_000
/** Between the attempts of a request that a caller waits for. */
const PAUSES_MS = [200, 1_000]
/** What is deleted is tried again later. */
const DELETE_MS_MAX = 10_000
/** The most bytes of an object that is read: a file of 30 MiB with what its encryption adds. */
const OBJECT_BYTES_MAX = 32 * 1024 * 1024
const ERROR_BYTES_MAX = 16 * 1024

interface Answer {
  status: number
  bytes: Buffer
}

/** A request that fails at the network, or that the store asks to repeat (429 and 5xx), is sent three times. */
export class S3Storage implements FileStorage {
  readonly #settings: S3Settings
  readonly #base: URL
  readonly #path: string
  readonly #lookup: LookupFunction | undefined
  #pool: Promise<Pool> | undefined

  /** @param lookup resolves the name of the host; default: as the system does */
  constructor(settings: S3Settings, lookup?: LookupFunction) {
    this.#lookup = lookup
    this.#settings = settings
    this.#base = new URL(settings.endpoint)
    if (settings.virtual_hosts) this.#base.hostname = `${settings.bucket}.${this.#base.hostname}`
    const bucket = settings.virtual_hosts ? '' : `/${settings.bucket}`
    this.#path = `${this.#base.pathname.replace(/\/+$/u, '')}${bucket}/${settings.prefix}`
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const { status, ...answer } = await this.#send('PUT', key, bytes)
    if (status !== 200) throw refusal('PUT', status, answer.bytes)
  }

  async get(key: string): Promise<Buffer | undefined> {
    const { status, bytes } = await this.#send('GET', key)
    if (status === 404 && codeOf(bytes) !== 'NoSuchBucket') return undefined
    if (status !== 200) throw refusal('GET', status, bytes)
    return bytes
  }

  async remove(key: string): Promise<void> {
    const { status, bytes } = await this.#attempt('DELETE', key, new Uint8Array()).catch(createUnreachableError('DELETE'))
    const isGone = status === 404 && codeOf(bytes) !== 'NoSuchBucket'
    if (status !== 204 && status !== 200 && !isGone) throw refusal('DELETE', status, bytes)
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy()
    this.#pool = undefined
  }

  async #send(method: 'GET' | 'PUT', key: string, body: Uint8Array = new Uint8Array()): Promise<Answer> {
    for (const pause_ms of PAUSES_MS) {
      const answer = await this.#attempt(method, key, body).catch(() => undefined)
      if (answer && answer.status !== 429 && answer.status < 500) return answer
      await pause(pause_ms)
    }
    return this.#attempt(method, key, body).catch(createUnreachableError(method))
  }

  async #attempt(method: 'GET' | 'PUT' | 'DELETE', key: string, body: Uint8Array): Promise<Answer> {
    const lookup = this.#lookup
    this.#pool ??= import('undici').then(
      ({ Pool }) => new Pool(this.#base.origin, { connections: CONNECTIONS_MAX, ...(lookup && { connect: { lookup } }) }),
    )
    const path = encodePath(this.#path + key)
    const headers = signRequest({ method, host: this.#base.host, path, body }, this.#settings, systemNow())
    const response = await (
      await this.#pool
    ).request({
      method,
      path,
      headers,
      body: method === 'PUT' ? body : null,
      signal: AbortSignal.timeout(method === 'DELETE' ? DELETE_MS_MAX : ATTEMPT_MS_MAX),
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > (response.statusCode === 200 ? OBJECT_BYTES_MAX : ERROR_BYTES_MAX))
        throw new StorageUnavailable(`${method}: the object store sent more than was stored`)
      chunks.push(chunk)
    }
    return { status: response.statusCode, bytes: Buffer.concat(chunks) }
  }
}

/** The code of an error of the store, such as `AccessDenied`. */
const codeOf = (bytes: Buffer): string | undefined => /<Code>([A-Za-z]{1,60})<\/Code>/u.exec(bytes.toString('latin1'))?.[1]

const refusal = (method: string, status: number, bytes: Buffer): StorageUnavailable =>
  new StorageUnavailable(`${method} was answered ${status} by the object store (${codeOf(bytes) ?? 'without a code'})`)

const createUnreachableError =
  (method: string) =>
  (error: unknown): never => {
    throw error instanceof StorageUnavailable
      ? error
      : new StorageUnavailable(`${method} did not reach the object store (${nameOf(error)})`)
  }

const nameOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.name : 'unknown')
