// The backups that `bin/drawbridge backup` completed. Owns completed_backup.
import { sql } from '../../platform/db/sql.ts'
import type { Queries } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'

/** Backups that stay recorded: the last ones. */
const RECORDED_MAX = 100

/** Records a backup, and forgets all but the last 100. Writes completed_backup. */
export async function recordBackup(
  control: Queries,
  { completed_at, bytes }: { completed_at: Date; bytes: number },
): Promise<void> {
  await control.run(sql`
    insert into completed_backup (completed_at, bytes) values (${completed_at}, ${bytes}) on conflict (completed_at) do nothing`)
  await control.run(sql`
    delete from completed_backup where completed_at < (
      select min(completed_at) from (select completed_at from completed_backup order by completed_at desc limit ${RECORDED_MAX}) newest)`)
}

const Backup = T.Object({ completed_at: T.String(), bytes: T.Integer() })

/** The last backup; null if none is known. */
export const lastBackup = async (control: Queries): Promise<{ completed_at: string; bytes: number } | null> =>
  (await control.maybe(
    Backup,
    sql`select date_trunc('second', completed_at) as completed_at, bytes from completed_backup b order by b.completed_at desc limit 1`,
  )) ?? null
