// A transport of a link in a process of its own, so that it can be killed: it reads messages from standard input, a line each, stores
// them, and writes the number of each stored message, which is the acknowledgment.
//
// Arguments: the connection to the database as JSON, the lab account, and where it kills itself: a point and the number of the message.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { MessageGroups } from '../../src/lab/link-messages/message-groups.ts'
import { Cells, type CellOptions } from '../../src/platform/db/cells.ts'

export type KillPoint = 'before storing' | 'after storing' | 'after the acknowledgment' | 'never'

const [connection, account, killPoint, killNumber] = process.argv.slice(2) as [string, string, KillPoint, string]
const options: CellOptions = {
  connection: JSON.parse(connection),
  connections_max: 8,
  team_connections_max: 2,
  row_security: 'off',
  checkRows: false,
}
const db = new Cells(options, new Map([['sandbox-us', options]])).db('sandbox-us')
const groups = new MessageGroups()
let count = 0

for await (const line of createInterface({ input: process.stdin })) {
  const { number, bytes } = JSON.parse(line) as { number: number; bytes: string }
  void receive(number, Buffer.from(bytes, 'base64'))
}

async function receive(number: number, bytes: Buffer): Promise<void> {
  const nth = ++count
  const killAt = (point: KillPoint) => {
    if (killPoint === point && nth >= Number(killNumber)) process.kill(process.pid, 'SIGKILL')
  }
  killAt('before storing')
  // A failure is no acknowledgment: the laboratory repeats the message.
  const isStored = await groups.store(db, { bytes, link_account_id: account, source: 'command' }, account).then(
    () => true,
    () => false,
  )
  if (!isStored) return
  killAt('after storing')
  writeSync(1, `${number}\n`)
  killAt('after the acknowledgment')
}
