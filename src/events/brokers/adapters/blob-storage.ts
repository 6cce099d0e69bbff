// Azure Blob Storage, for events routed to a container or too large for a hub. Source: events.md 8.2.
import { Agent as PlainAgent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Pipeline, RequestPolicyFactory } from '@azure/storage-blob'
import { RuleError } from '../../../platform/schema/request-validation.ts'
import type { TargetPolicy } from '../../../platform/net/outbound-targets.ts'
import { blobAddress, type BlobAddress } from '../broker-addresses.ts'
import { errorCode, toRejection, ACKNOWLEDGED, type SendOutcome, type Message, type EncodedMessage } from '../broker-message.ts'
import { loadPackage } from '../../../platform/runtime/optional-packages.ts'
import type { Matcher } from '../schema.ts'

const PUT_MS_MAX = 12_000
const SOCKETS_MAX = 20
const IDLE_MS = 20_000

type Storage = NonNullable<Matcher['blob_storage']>

/** Writes blobs from the cells of one environment. */
export class BlobStorage {
  readonly #targets: TargetPolicy
  readonly #sandbox: boolean
  readonly #plain: PlainAgent
  readonly #tls: TlsAgent

  constructor({ targets, sandbox }: { targets: TargetPolicy; sandbox: boolean }) {
    this.#targets = targets
    this.#sandbox = sandbox
    const options = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS, lookup: targets.lookup(sandbox) }
    this.#plain = new PlainAgent(options)
    this.#tls = new TlsAgent(options)
  }

  /** One attempt. The name depends on the event alone: a repetition writes the same blob again. */
  async put(storage: Storage, message: Message, { bytes, isGzip }: EncodedMessage): Promise<SendOutcome> {
    const address = blobAddress(storage.connection_string)
    if (address instanceof RuleError) return toRejection('address')
    try {
      await this.#targets.addresses(address.host, this.#sandbox)
      const { BlockBlobClient } = await loadPackage('@azure/storage-blob', () => import('@azure/storage-blob'))
      const path = `${encodeURIComponent(storage.container_name)}/${blobName(message, isGzip).split('/').map(encodeURIComponent).join('/')}`
      const query = address.signature === undefined ? '' : `?${address.signature}`
      const client = new BlockBlobClient(`${address.url}/${path}${query}`, await this.#pipeline(address))
      await client.upload(bytes, bytes.length, {
        abortSignal: AbortSignal.timeout(PUT_MS_MAX),
        blobHTTPHeaders: { blobContentType: 'application/json', ...(isGzip && { blobContentEncoding: 'gzip' }) },
      })
      return ACKNOWLEDGED
    } catch (error) {
      return toRejection(errorCode(error))
    }
  }

  close(): void {
    this.#plain.destroy()
    this.#tls.destroy()
  }

  async #pipeline({ account, tls }: BlobAddress): Promise<Pipeline> {
    const { AnonymousCredential, newPipeline, StorageSharedKeyCredential } = await loadPackage(
      '@azure/storage-blob',
      () => import('@azure/storage-blob'),
    )
    const credential = account ? new StorageSharedKeyCredential(account.name, account.key) : new AnonymousCredential()
    const pipeline = newPipeline(credential, { retryOptions: { maxTries: 1 } })
    pipeline.factories.push(abortUnfinished(tls ? this.#tls : this.#plain))
    return pipeline
  }
}

/** `{team}/{user}/{instant}#{type}#{key}.json[.gz]`; the team twice if there is no user. */
const blobName = ({ team_id, order_key, created_at_text, type, idempotency_key }: Message, isGzip: boolean): string =>
  `${team_id}/${order_key}/${created_at_text}#${type}#${idempotency_key}.json${isGzip ? '.gz' : ''}`

/** Requests use our own connections, which the target policy limits. */
const abortUnfinished = (agent: PlainAgent): RequestPolicyFactory => ({
  create: (next) => ({
    sendRequest(request) {
      request.agent = agent
      return next.sendRequest(request)
    },
  }),
})
