// The file with the keys of the demo data, `demo.json` in the data folder. Commands that only need the keys load nothing of the server.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { matchesSchema, T, type Static } from '../platform/schema/schema.ts'

const Demo = T.Object({
  base_url: T.String(),
  org_id: T.String(),
  management_key: T.String(),
  teams: T.Object({ us: T.String(), eu: T.String() }),
  api_keys: T.Object({
    'sandbox-us': T.String(),
    'production-us': T.String(),
    'sandbox-eu': T.String(),
    'production-eu': T.String(),
  }),
})
export type Demo = Static<typeof Demo>

/** The address of the API page, which fills the key in. Browsers send the part behind `#` to no server. */
export const apiPageAddress = (url: string, key: string): string => `${url}/docs#team_key=${encodeURIComponent(key)}`

const fileIn = (dataDir: string): string => join(dataDir, 'demo.json')

/** Writes the demo file after the server listens. The file appears complete and only its owner can read it. */
export function publishDemo(dataDir: string, demo: Demo): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = fileIn(dataDir)
  writeFileSync(`${path}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  chmodSync(`${path}.new`, 0o600)
  renameSync(`${path}.new`, path)
}

/** The demo file of the last start; undefined if it is missing or invalid. */
export function readDemo(dataDir: string): Demo | undefined {
  try {
    const demo: unknown = JSON.parse(readFileSync(fileIn(dataDir), 'utf8'))
    return matchesSchema(Demo, demo) ? demo : undefined
  } catch {
    return undefined
  }
}
