// Imports an operator's file of phlebotomists into a cell.
import { stat } from 'node:fs/promises'
import type { Db } from '../../platform/db/database.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { validate } from '../../platform/schema/request-validation.ts'
import { RejectedRows, InvalidFileError } from '../../platform/files/rejected-rows.ts'
import { readUtf8File } from '../../platform/files/text-file.ts'
import { Fields } from '../../platform/schema/schema.ts'
import { putStaff, STAFF_MAX } from './staff.ts'
import { Reference, StaffInput } from './staff-schema.ts'

const FILE_BYTES_MAX = 50_000_000

export interface ImportedStaff {
  staff: number
  rejections: RejectedRows
}

/**
 * Imports the phlebotomists of a JSON list, by reference; phlebotomists that are not in the file stay. One transaction. Valid entries are
 * imported even if others are invalid, unless `strict`. Writes phlebotomist.
 * @param org_id null for the operator's own staff
 * @throws InvalidFileError if nothing in the file can be imported
 */
export async function importStaff(db: Db, org_id: string | null, path: string, strict: boolean): Promise<ImportedStaff> {
  const list = await parseStaffList(path)
  return db.plainTx(async (tx) => {
    const rejections = new RejectedRows()
    const seen = new Set<string>()
    let staff = 0
    for (const [index, item] of list.entries()) {
      const reasons = await importEntry(tx, org_id, item, seen)
      if (reasons.length) rejections.add(String(index + 1), reasons)
      else staff++
    }
    if (strict && rejections.count) throw new InvalidFileError(`Nothing was imported. ${rejections.text().trimEnd()}`)
    return { staff, rejections }
  })
}

async function parseStaffList(path: string): Promise<unknown[]> {
  if ((await stat(path)).size > FILE_BYTES_MAX) throw new InvalidFileError(`The file must be at most ${FILE_BYTES_MAX} bytes.`)
  let list: unknown
  try {
    list = JSON.parse(await readUtf8File(path))
  } catch (error) {
    if (error instanceof SyntaxError) throw new InvalidFileError('The file is not JSON.')
    throw error
  }
  if (!Array.isArray(list)) throw new InvalidFileError('The file must be a list of phlebotomists.')
  if (list.length > STAFF_MAX) throw new InvalidFileError(`The file must contain at most ${STAFF_MAX} phlebotomists.`)
  return list as unknown[]
}

const Named = Fields({ reference: Reference })

/** Imports one entry. @returns its errors */
async function importEntry(tx: PlainTx, org_id: string | null, item: unknown, seenIds: Set<string>): Promise<string[]> {
  const faults: Fault[] = []
  const named = validate(Named, item, [], faults, 'json') as { reference: string }
  const isObject = faults[0]?.type !== 'model_attributes_type'
  const input = (isObject ? validate(StaffInput, item, [], faults, 'json') : undefined) as StaffInput
  if (faults.length) return faults.map(reasonOf)
  if (seenIds.has(named.reference)) return ['duplicate reference']
  seenIds.add(named.reference)
  try {
    await putStaff(tx, org_id, named.reference, input)
    return []
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { detail } = error.body
    return Array.isArray(detail)
      ? (detail as Fault[]).map((fault) => reasonOf({ ...fault, loc: fault.loc.slice(1) }))
      : [String(detail)]
  }
}

const reasonOf = ({ loc, msg }: Fault): string => (loc.length ? `${loc.join('.')}: ${msg}` : msg)
