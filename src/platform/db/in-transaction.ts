import type pg from 'pg'

/** Runs `work` as one transaction on a connection of `migrate`. Errors: those of `work`; nothing has changed then. */
export async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin')
  try {
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
