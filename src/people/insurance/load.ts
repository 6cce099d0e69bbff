// Loads payors, diagnoses and exclusions into a cell: the shipped files at each start, and files of the operator. Writes payor, icd_code,
// icd_exclusion and insurance_data_version.
import { createHash } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import {
  exclusionRows,
  icdRows,
  payorRows,
  bundledFiles,
  readBundledFile,
  type IcdRow,
  type InsuranceDataset,
  type PayorRow,
} from './data-files.ts'

/** Increase it when the same files are mapped to different rows. */
const DATA_REVISION = '1'

const checksumOf = (text: string): string =>
  createHash('sha256').update(`${DATA_REVISION}\0`).update(text).digest('hex').slice(0, 32)

/** Changes whenever loading the shipped files would change something. */
export const insuranceChecksum = (): string =>
  (Object.keys(bundledFiles) as InsuranceDataset[]).map((part) => checksumOf(readBundledFile(part))).join()

/**
 * Loads the shipped payors, diagnoses and exclusions; skips data that is already loaded or was replaced by the operator. One
 * transaction. Throws if a file is invalid; then nothing changes.
 */
export async function loadInsuranceData(db: Db): Promise<void> {
  await db.plainTx(async (tx) => {
    const payors = readBundledFile('payors')
    if (await updateDataVersion(tx, 'payors', payors)) await writePayors(tx, payorRows(payors), 'shipped')
    const icd = readBundledFile('icd')
    if (await updateDataVersion(tx, 'icd', icd)) await replaceCodes(tx, icdRows(icd))
    const exclusions = readBundledFile('exclusions')
    if (await updateDataVersion(tx, 'exclusions', exclusions)) await replaceExclusions(tx, exclusions)
  })
}

/** Whether the part has to be loaded. Of two processes that start together the second waits, and then finds nothing to do. */
async function updateDataVersion(tx: PlainTx, part: InsuranceDataset, text: string): Promise<boolean> {
  const claimed = await tx.run(sql`
    insert into insurance_data_version (part, checksum, origin) values (${part}, ${checksumOf(text)}, 'shipped')
    on conflict (part) do update set checksum = excluded.checksum
    where insurance_data_version.checksum <> excluded.checksum and insurance_data_version.origin = 'shipped'`)
  return claimed > 0
}

/**
 * Adds an operator's payors to the platform's directory and updates those with the same codes; removes none. A public program of a state
 * then belongs to the payor of the file. One transaction. Throws InvalidFileError for an invalid row.
 * @returns number of rows in the file
 */
export async function importPayors(db: Db, text: string): Promise<number> {
  const rows = payorRows(text)
  await db.plainTx(async (tx) => {
    await tx.locking.run(sql`select part from insurance_data_version where part = 'payors' for update`)
    await tx.run(sql`
      update payor p set program = null, state = null
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (code text, program text, state text)
      where p.program = r.program and p.state = r.state and p.code <> r.code`)
    await writePayors(tx, rows, 'imported')
  })
  return rows.length
}

const Change = T.Object({ there: T.Integer(), removed: T.Integer(), added: T.Integer(), changed: T.Integer() })

/** Returns what `importCodes` would change in a cell; changes nothing. Throws InvalidFileError for an invalid row. */
export async function changeOfCodes(db: Db, text: string): Promise<Static<typeof Change>> {
  return db.queries.one(
    Change,
    sql`
    select count(c.code)::int as there,
      count(*) filter (where r.code is null)::int as removed,
      count(*) filter (where c.code is null)::int as added,
      count(*) filter (where c.code = r.code
        and (c.description, c.is_secondary) is distinct from (r.description, r.is_secondary))::int as changed
    from icd_code c
    full join jsonb_to_recordset(${JSON.stringify(icdRows(text))}::jsonb) as r (code text, description text, is_secondary boolean)
      on r.code = c.code`,
  )
}

/**
 * Replaces all diagnoses by those of an operator's file. Later starts do not change them. One transaction. Throws InvalidFileError for an
 * invalid row. @returns number of billable codes in the file
 */
export async function importCodes(db: Db, text: string): Promise<number> {
  const rows = icdRows(text)
  await db.plainTx(async (tx) => {
    await tx.run(sql`
      insert into insurance_data_version (part, checksum, origin) values ('icd', ${checksumOf(text)}, 'imported')
      on conflict (part) do update set checksum = excluded.checksum, origin = 'imported'`)
    await replaceCodes(tx, rows)
  })
  return rows.length
}

/** A shipped row neither changes an operator's row nor takes a program of another row. */
async function writePayors(tx: PlainTx, rows: PayorRow[], origin: 'shipped' | 'imported'): Promise<void> {
  await tx.run(sql`
    insert into payor (code, origin, name, aliases, org_address, payer_id, external_codes, program, state, created_at)
    select r.code, ${origin}, r.name, r.aliases, r.org_address, r.payer_id, r.external_codes, t.program, t.state, ${tx.now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      code text, name text, aliases text[], org_address jsonb, payer_id text, external_codes jsonb, program text, state text)
    left join lateral (select r.program, r.state where not exists (
      select from payor p where p.program = r.program and p.state = r.state and p.code <> r.code)) t on true
    on conflict (code) do update set
      origin = excluded.origin, name = excluded.name, aliases = excluded.aliases, org_address = excluded.org_address,
      payer_id = excluded.payer_id, external_codes = excluded.external_codes, program = excluded.program, state = excluded.state
    where payor.team_id is null and (excluded.origin = 'imported' or payor.origin = 'shipped')`)
}

async function replaceCodes(tx: PlainTx, rows: IcdRow[]): Promise<void> {
  await tx.run(sql`delete from icd_code where true`)
  await tx.run(sql`
    insert into icd_code (code, description, is_secondary)
    select code, description, is_secondary
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (code text, description text, is_secondary boolean)`)
}

async function replaceExclusions(tx: PlainTx, text: string): Promise<void> {
  await tx.run(sql`delete from icd_exclusion where true`)
  await tx.run(sql`
    insert into icd_exclusion (code, excluded_code, type)
    select code, excluded_code, type
    from jsonb_to_recordset(${JSON.stringify(exclusionRows(text))}::jsonb) as r (code text, excluded_code text, type text)`)
}
