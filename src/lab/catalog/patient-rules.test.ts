import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../platform/runtime/problem.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { createTestTeam } from '../../../test/support/server.ts'
import { assertPatientAllowed, type PatientNameAndGender } from './patient-rules.ts'

const Lab = T.Object({ id: T.Integer(), name: T.String() })

const testa = { first_name: 'Testa', last_name: 'Fictional', gender: 'female' }

test('an order is checked against the patient rules of its lab', async () => {
  const { db, tenant } = await createTestTeam('production-us')
  await db.queries.run(sql`
    update lab set max_first_name = 6, max_last_name = 9, allowed_genders = array['female', 'male'] where slug = 'crl'`)
  const { id, name } = await db.queries.one(Lab, sql`select id, name from lab where slug = 'crl'`)
  const asked = (lab_id: number, patient: PatientNameAndGender) =>
    db.tx(tenant, (tx) => assertPatientAllowed(tx, lab_id, patient)).catch((error: Problem) => [error.status, error.body.detail])
  assert.equal(await asked(1, { ...testa, gender: 'unknown', first_name: 'T'.repeat(50) }), undefined)
  assert.equal(await asked(id, testa), undefined)
  assert.equal(await asked(id, { first_name: null, last_name: null, gender: 'male' }), undefined)
  assert.deepEqual(await asked(id, { ...testa, gender: 'other' }), [400, `Lab ${name} does not allow gender other`])
  assert.deepEqual(await asked(id, { ...testa, first_name: 'Testari' }), [
    400,
    `Lab ${name} accepts at most 6 characters in first_name`,
  ])
  assert.deepEqual(await asked(id, { ...testa, last_name: 'Fictionals' }), [
    400,
    `Lab ${name} accepts at most 9 characters in last_name`,
  ])
})
