// Peers of brokers on this machine: one speaks Pub/Sub's protocol with the message definitions of its client library, one accepts blobs and
// checks their signatures.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { protos } from '@google-cloud/pubsub'
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall, type status } from '@grpc/grpc-js'

const { PublishRequest, PublishResponse } = protos.google.pubsub.v1
type Request = protos.google.pubsub.v1.PublishRequest
type Response = protos.google.pubsub.v1.IPublishResponse

/** @returns the received requests, and the refusals that a test sets: a gRPC code for a topic */
export async function startPubSub() {
  // The client library would look for the machine's credentials in the network.
  process.env.METADATA_SERVER_DETECTION = 'none'
  const requests: Request[] = []
  const refusals = new Map<string, status>()
  const peer = new Server()
  peer.addService(
    {
      publish: {
        path: '/google.pubsub.v1.Publisher/Publish',
        requestStream: false,
        responseStream: false,
        requestDeserialize: (bytes: Buffer) => PublishRequest.decode(bytes),
        requestSerialize: (request: Request) => Buffer.from(PublishRequest.encode(request).finish()),
        responseDeserialize: (bytes: Buffer) => PublishResponse.decode(bytes),
        responseSerialize: (response: Response) => Buffer.from(PublishResponse.encode(response).finish()),
      },
    },
    {
      publish({ request }: ServerUnaryCall<Request, Response>, reply: sendUnaryData<Response>) {
        const code = refusals.get(request.topic)
        if (code !== undefined) return reply({ code, details: 'no' })
        requests.push(request)
        reply(null, { messageIds: request.messages.map((_, i) => String(i)) })
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) =>
    peer.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
  )
  after(() => peer.forceShutdown())
  return { port, requests, refusals }
}

interface Blob {
  name: string
  /** The message as the service would return it to readers. */
  type: string
  encoding: string | undefined
  body: string
}

/**
 * @param key of the account, in base64
 * @returns the stored blobs, and the status that a test sets for further ones
 */
export async function startBlobStorage(key: string) {
  const storage = {
    blobs: [] as Blob[],
    status: 201,
    containerOf: (container_name: string, account_key = key) => ({
      connection_string: `BlobEndpoint=http://127.0.0.1:${port};AccountName=clinic;AccountKey=${account_key}`,
      container_name,
    }),
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers, method, url } = request
      const isSigned = headers.authorization === `SharedKey clinic:${blobSignature(request, key)}`
      const isUpload = method === 'PUT' && headers['x-ms-blob-type'] === 'BlockBlob'
      const status = isSigned && isUpload ? storage.status : 403
      if (status !== 201) return void response.writeHead(status).end()
      const bytes = Buffer.concat(chunks)
      const [type, encoding] = [headers['x-ms-blob-content-type'], headers['x-ms-blob-content-encoding']]
      storage.blobs.push({
        name: decodeURIComponent(new URL(url!, 'http://host').pathname),
        type: type as string,
        encoding: encoding as string | undefined,
        body: (encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString(),
      })
      response.writeHead(201).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return storage
}

/** The shared key signature of a request, computed by the service's description. */
function blobSignature({ method, url, headers }: IncomingMessage, key: string): string {
  const serviceHeaders = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
    .map((name) => `${name}:${String(headers[name])}\n`)
  const { pathname } = new URL(url!, 'http://host')
  const lines = [
    method,
    headers['content-encoding'] ?? '',
    headers['content-language'] ?? '',
    headers['content-length'] === '0' ? '' : (headers['content-length'] ?? ''),
    headers['content-md5'] ?? '',
    headers['content-type'] ?? '',
    ...Array<string>(6).fill(''),
  ]
  const text = `${lines.join('\n')}\n${serviceHeaders.join('')}/clinic${pathname}`
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64')
}
