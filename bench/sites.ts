// Sites of a laboratory, many, and questions about those near a place.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

export const SITES = 20_000
const ZIPS = ['85004', '10001', '90012', '60603', '77002', '33131', '98101', '82001']

/** Gives Quest so many sites: those of the sandbox and copies, some miles off. @returns paths to ask for, of different cities */
export async function fillSites(db: pg.Client): Promise<string[]> {
  const { rows } = await db.query<{ lab_id: number }>(`select id as lab_id from lab where slug = 'quest'`)
  const { lab_id } = rows[0]!
  await db.query(
    `insert into psc_site (lab_id, site_code, name, first_line, second_line, city, state, zip_code, phone_number, fax_number, hours, website,
                           lat, lng, capabilities, supported_bill_types, active, updated_at)
     select lab_id, site_code || '-' || i, name, first_line, second_line, city, state, zip_code, phone_number, fax_number, hours, website,
            lat + sin(i) / 2, lng + cos(i) / 2, capabilities, supported_bill_types, active, updated_at
     from psc_site, generate_series(1, 100) as i where lab_id = $1 order by i, site_code
     limit $2 - (select count(*) from psc_site where lab_id = $1)`,
    [lab_id, SITES],
  )
  await db.query('update psc_directory_version set version = version + 1 where lab_id = $1', [lab_id])
  // The server looks every two seconds whether sites have changed.
  await sleep(3000)
  return ZIPS.map((zip) => `/v3/order/psc/info?zip_code=${zip}&lab_id=${lab_id}`)
}
