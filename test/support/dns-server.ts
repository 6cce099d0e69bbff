// A name server for tests, on UDP and TCP of loopback, that speaks DNS with a codec of its own and knows the names a test gives it.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after } from 'node:test'
import {
  decode,
  encode,
  streamDecode,
  streamEncode,
  RECURSION_AVAILABLE,
  TRUNCATED_RESPONSE,
  type Answer,
  type Packet,
} from 'dns-packet'

/** How a question ends that has no answer: by a code, or in silence. */
const codes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }
type DnsFailure = keyof typeof codes | 'silence'

/** What is known of a question `TXT name.example`; names without anything known do not exist. */
type DnsRecords = Answer[] | DnsFailure | (() => Promise<Answer[] | DnsFailure>)

export interface NameServer {
  /** As settings name it. */
  address: string
  zone: Map<string, DnsRecords>
  /** The questions that came, and over what. */
  queries: string[]
  /** Say by UDP that everything is too long for it. */
  truncates: boolean
}

const TRIES_MAX = 20

/** One port for both: what is free for one may be taken for the other. */
async function bound() {
  for (let tries = 1; ; tries++) {
    const tcp = createServer().listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    try {
      udp.bind(port, '127.0.0.1')
      await once(udp, 'listening')
      return { tcp, udp, port }
    } catch (error) {
      tcp.close()
      udp.close()
      if (tries === TRIES_MAX) throw error
    }
  }
}

/** Start one for the tests of this file. */
export async function nameServer(): Promise<NameServer> {
  const { udp, tcp, port } = await bound()
  const server: NameServer = { address: `127.0.0.1:${port}`, zone: new Map(), queries: [], truncates: false }

  const respond = async (query: Packet, transport: 'udp' | 'tcp'): Promise<Packet | undefined> => {
    const [question] = query.questions!
    const name = `${question!.type} ${question!.name.toLowerCase()}`
    server.queries.push(`${transport} ${name}`)
    const known = server.zone.get(name) ?? 'NXDOMAIN'
    const found = typeof known === 'function' ? await known() : known
    if (found === 'silence') return undefined
    const flags = RECURSION_AVAILABLE | (typeof found === 'string' ? codes[found] : 0)
    const response: Packet = { type: 'response', id: query.id!, flags, questions: query.questions! }
    if (typeof found === 'string') return response
    if (transport === 'udp' && server.truncates) return { ...response, flags: flags | TRUNCATED_RESPONSE }
    return { ...response, answers: found }
  }

  udp.on('message', (bytes, { port, address }) => {
    void respond(decode(bytes), 'udp').then((response) => response && udp.send(encode(response), port, address))
  })
  const sockets = new Set<Socket>()
  tcp.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    let gathered = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      gathered = Buffer.concat([gathered, bytes])
      while (gathered.length >= 2 && gathered.length >= gathered.readUInt16BE() + 2) {
        const query = streamDecode(gathered)
        gathered = gathered.subarray(gathered.readUInt16BE() + 2)
        void respond(query, 'tcp').then((response) => response && socket.write(streamEncode(response)))
      }
    })
  })
  after(() => {
    udp.close()
    for (const socket of sockets) socket.destroy()
    tcp.close()
  })
  return server
}

export const txt = (name: string, ...parts: string[]): Answer => ({ type: 'TXT', name, data: parts })
export const cname = (name: string, data: string): Answer => ({ type: 'CNAME', name, data })
