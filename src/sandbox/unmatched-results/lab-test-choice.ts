// Selects the lab tests that a test run orders, and the one that its result is for. Only reads, except that it creates a test if the team
// has none.
import { expectedResults, selectLabTests } from '../../lab/catalog/lab-tests.ts'
import { testOfMarkers } from '../../lab/catalog/order-sets.ts'
import { LabTest } from '../../lab/catalog/schema.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { T } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { SUPPORTED_LABS } from './cases.ts'
import type { CreateUnmatchedResultTest } from './schema.ts'

/** Why a run cannot continue. */
export class TestRunError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The ordered test and the test of the result: they differ only in the case of the wrong laboratory. */
export interface TestRunLabTests {
  orderedTest: LabTest
  reportedTest: LabTest
}

const walkInTests = (tx: Tx): Promise<LabTest[]> =>
  tx.many(
    LabTest,
    sql`
    ${selectLabTests(tx.team, 'without markers')}
    where t.team_id = ${tx.team} and t.status = 'active' and t.method = 'walk_in_test' and l.slug = any (${SUPPORTED_LABS}::text[])
      and not t.auto_generated
    order by t.created_at, t.id`,
  )

/** Returns the tests of a run with managed orders, or without orders. */
export async function chooseTests(tx: Tx, request: CreateUnmatchedResultTest): Promise<TestRunLabTests> {
  const tests = await walkInTests(tx)
  const named = (id: string | undefined): LabTest | undefined => {
    const test = tests.find((candidate) => candidate.id === id)
    if (id !== undefined && !test)
      throw new TestRunError(
        'invalid_configuration',
        `Lab test ${id} is not an active walk-in test of one of ${SUPPORTED_LABS.join(', ')}`,
      )
    return test
  }
  const [reported, wrong] = [named(request.lab_test_id), named(request.wrong_lab_test_id)]
  if (request.case === 'no_match') return sameTest(reported ?? anyOf(tests))
  if (request.case !== 'wrong_lab') return sameTest(reported ?? onlyOne(tests))
  if (reported && wrong) return differentTests(wrong, reported)
  if (reported) {
    const other = tests.find((test) => test.lab!.id !== reported.lab!.id)
    return { orderedTest: other ?? (await testAtAnotherLab(tx, reported)), reportedTest: reported }
  }
  const orderedTest = wrong ?? onlyOne(tests)
  return { orderedTest, reportedTest: await testAtAnotherLab(tx, orderedTest) }
}

const sameTest = (test: LabTest): TestRunLabTests => ({ orderedTest: test, reportedTest: test })

export function differentTests(orderedTest: LabTest, reportedTest: LabTest): TestRunLabTests {
  if (orderedTest.lab!.id === reportedTest.lab!.id)
    throw new TestRunError(
      'invalid_configuration',
      'For wrong_lab the order and the result must belong to different laboratories',
    )
  return { orderedTest, reportedTest }
}

/** The oldest test: a result without an order may be for any test. */
function anyOf([first]: LabTest[]): LabTest {
  if (first) return first
  throw new TestRunError('no_configuration', `The team has no active walk-in test of one of ${SUPPORTED_LABS.join(', ')}`)
}

/** The only test; if there are several, the caller has to choose. */
function onlyOne(tests: LabTest[]): LabTest {
  const [, ...others] = tests
  const first = anyOf(tests)
  if (others.length) throw new TestRunError('ambiguous_configuration', 'Several lab tests match; set lab_test_id')
  return first
}

const Single = T.Object({ id: T.Integer(), lab_id: T.Integer() })

/** Returns a test of another laboratory, with a marker that measures the same as the given test's if there is one. */
export async function testAtAnotherLab(tx: Tx, test: LabTest): Promise<LabTest> {
  const slugs = (await expectedResults(tx, test.id)).map(({ slug }) => slug)
  const marker = await tx.maybe(
    Single,
    sql`
    select m.id, m.lab_id from marker m join lab l on l.id = m.lab_id
    where l.slug = any (${SUPPORTED_LABS}::text[]) and l.id <> ${test.lab!.id} and 'walk_in_test' = any (l.collection_methods)
      and m.is_orderable
    order by (m.slug = any (${slugs}::text[])) desc, m.id limit 1`,
  )
  if (!marker) throw new TestRunError('no_configuration', 'The catalog has no other laboratory for wrong_lab')
  return testOfMarkers(tx, { lab_id: marker.lab_id, marker_ids: [marker.id], method: 'walk_in_test', fasting: false })
}
