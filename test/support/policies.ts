// The policies of the file's database, opened: what still keeps teams apart are the conditions of the statements.
import assert from 'node:assert/strict'
import { asOwner } from './server.ts'

/**
 * Let the statements of a team see every row of the cell sandbox-us from now on, until the returned function is called. Row-level security
 * stays in force, with nothing to hold.
 */
export async function openPolicies(): Promise<() => Promise<void>> {
  const { rows } = await asOwner<{ name: string }>(
    `select polrelid::regclass::text as name from pg_policy
     where polname = 'whole_cell' and polrelid in (select oid from pg_class where relnamespace = 'sandbox_us'::regnamespace)`,
  )
  assert(rows.length > 30, `${rows.length} tables have policies`)
  await asOwner(rows.map(({ name }) => `create policy open on ${name} using (true) with check (true)`).join(';'))
  return async () => {
    await asOwner(rows.map(({ name }) => `drop policy open on ${name}`).join(';'))
  }
}
