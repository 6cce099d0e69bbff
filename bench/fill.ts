// Rows of the past, as many as a busy team has.
import type pg from 'pg'
import type { Bench } from './program.ts'

/** Orders of the past, copies of one, so many that pages lie deep; then the statistics that a planner needs. */
export async function fillOrders({ db, team, order_id }: Bench, count: number): Promise<void> {
  await db.query(
    `insert into lab_order (id, team_id, user_id, transaction_id, lifecycle_name, lab_test_id, lab_id, method, low_level_status, status_at,
                            patient_name, recipient_name, created_at, updated_at, document, internal_data)
     select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || substr(md5(i::text), 1, 3) || '-8' || substr(md5(i::text), 4, 3) || '-' || substr(md5(i::text), 7, 12))::uuid,
            team_id, user_id, gen_random_uuid(), lifecycle_name, lab_test_id, lab_id, method, low_level_status, at, patient_name, recipient_name, at, at,
            document, internal_data
     from lab_order, generate_series(1, $2::bigint) as i,
          lateral (select timestamptz '2020-01-01 00:00:00+00' + i * interval '1 minute' as at) t,
          lateral (select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex) h
     where team_id = $3 and id = $1`,
    [order_id, count, team],
  )
  await addToCount(db, team, 'orders', count)
  await db.query('vacuum analyze lab_order')
}

/** Users of the past; then the statistics that a planner needs. */
export async function fillUsers({ db, team }: Bench, count: number): Promise<void> {
  await db.query(
    `insert into "user" (id, team_id, client_user_id, created_on)
     select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || substr(md5(i::text), 1, 3) || '-8' || substr(md5(i::text), 4, 3) || '-' || substr(md5(i::text), 7, 12))::uuid,
            $1, 'bench-' || i, at
     from generate_series(1, $2::bigint) as i,
          lateral (select timestamptz '2020-01-01 00:00:00+00' + i * interval '1 minute' as at) t,
          lateral (select lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex) h`,
    [team, count],
  )
  await addToCount(db, team, 'users', count)
  await db.query('vacuum analyze "user"')
}

const addToCount = (db: pg.Client, team: string, list: string, count: number) =>
  db.query(
    `insert into list_count (team_id, list, slot, row_count) values ($1, $2, 0, $3)
     on conflict (team_id, list, slot) do update set row_count = list_count.row_count + excluded.row_count`,
    [team, list, count],
  )
