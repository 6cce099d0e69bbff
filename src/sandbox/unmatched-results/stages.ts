// The stages of a test run. A stage is one transaction and stores the state for the next one, so that a stage that runs twice changes
// nothing twice. A stage that fails ends the run with an error.
import { createHash } from 'node:crypto'
import { expectedResults, findLabTest } from '../../lab/catalog/lab-tests.ts'
import type { LabTest } from '../../lab/catalog/schema.ts'
import { chooseAccount, requiresPhysician, usableAccounts } from '../../lab/accounts/account-selection.ts'
import type { IncomingResult, ReportedPatient } from '../../lab/result-matching/incoming-result.ts'
import { receiveForTeam } from '../../lab/result-matching/receive.ts'
import { updateOrder } from '../../lab/orders/change-order.ts'
import { getOrder } from '../../lab/orders/orders.ts'
import { buildOrder, insertOrder } from '../../lab/orders/place-order.ts'
import { resolveOrder } from '../../lab/orders/resolve-order.ts'
import type { Order } from '../../lab/orders/schema.ts'
import { iso } from '../../platform/runtime/clock.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { Problem } from '../../platform/runtime/problem.ts'
import { withNulls } from '../../platform/schema/schema.ts'
import { enqueue, defineHandler } from '../../platform/queue/outbox.ts'
import { createUser, resolveUser } from '../../people/users/users.ts'
import { PatientAddress } from '../../people/person/address.ts'
import { examplePhysician } from '../../people/person/example-patient.ts'
import { Patient } from '../../people/person/patient.ts'
import { UNITED_STATES } from '../../people/person/countries.ts'
import { generateReport } from '../simulator/generate-report.ts'
import { SUPPORTED_LABS, casesWithSampleId, requiredRoles } from './cases.ts'
import { stages, type Artifact, type Stage } from './schema.ts'
import { chooseTests, differentTests, testAtAnotherLab, TestRunError } from './lab-test-choice.ts'
import { lockTestRun, runStage, saveTestRun, type TestRun } from './unmatched-result-tests.ts'
import { applyStep } from '../simulator/simulate.ts'

/** State that stages store for later ones. */
interface Plan {
  ordered_test?: string
  reported_test?: string
  /** In the order of the roles. */
  users?: string[]
  delivery?: IncomingResult
}
type StageHandler = (tx: Tx, run: TestRun<Plan>) => void | Promise<void>

export const stageHandler = defineHandler(runStage, async (context, { run_id, stage }) => {
  const i = stages.indexOf(stage)
  try {
    await context.tx(async (tx) => {
      const run = await lockTestRun<Plan>(tx, run_id)
      if (!run || run.stage !== (i === 0 ? 'queued' : stages[i - 1])) return
      await stageHandlers[stage](tx, run)
      const next = stages[i + 1]
      saveTestRun(tx, run, next ? { status: 'running', stage } : { status: 'succeeded', stage: 'succeeded' })
      if (next) enqueue(tx, runStage, { run_id, stage: next })
    })
  } catch (error) {
    const failure = toTestError(error)
    if (!failure) throw error
    await context.tx(async (tx) => {
      const run = await lockTestRun<Plan>(tx, run_id)
      if (run) saveTestRun(tx, run, { status: 'failed', stage: 'failed', error: failure })
    })
  }
})

function toTestError(error: unknown): { code: string; message: string } | undefined {
  if (error instanceof TestRunError) return { code: error.code, message: error.message }
  if (!(error instanceof Problem) || error.status >= 500) return undefined
  const { detail } = error.body as { detail?: string | { error_message?: string } }
  const message = typeof detail === 'string' ? detail : (detail?.error_message ?? `The server HTTP ${error.status}`)
  return { code: 'refused', message }
}

const stageHandlers: Record<Stage, StageHandler> = {
  /** Checks that the provided orders are in the states of the case. */
  async validating(tx, { request, orders }) {
    for (const [role, id] of Object.entries(request.orders ?? {})) {
      const order = await getOrder(tx, id)
      assertOrderFitsRole(order, request.case, role)
      orders[role] = artifact(order)
    }
  },

  async selecting_configuration(tx, { request, orders, plan }) {
    const [first] = Object.values(orders)
    const tests = first
      ? await testsOfProvidedOrder(tx, await getOrder(tx, first.order_id), request)
      : await chooseTests(tx, request)
    plan.ordered_test = tests.orderedTest.id
    plan.reported_test = tests.reportedTest.id
    // Orders are placed for users that already exist.
    if (request.order_source === 'managed') plan.users = await createUsers(tx, request.case)
  },

  async creating_orders(tx, run) {
    if (run.request.order_source === 'provided') return
    const lab_test = (await findLabTest(tx, run.plan.ordered_test!))!
    const physician = await physicianFor(tx, lab_test)
    for (const [n, role] of Object.keys(requiredRoles[run.request.case]).entries()) {
      const user_id = run.plan.users![n]!
      const request = { user_id, patient_details: patientOf(run.id), patient_address: sandboxAddress, physician }
      const resolved = await resolveOrder(tx, request, lab_test)
      const { document } = await insertOrder(tx, buildOrder(tx, request, resolved), resolved)
      run.orders[role] = artifact(JSON.parse(document) as Order)
    }
  },

  async transitioning_orders(tx, { request, orders }) {
    if (request.order_source === 'provided') return
    for (const [role, status] of Object.entries(requiredRoles[request.case]))
      await updateOrder(tx, orders[role]!.order_id, async (lockedOrder) => {
        const plan = { order_id: lockedOrder.order.id, target: status, delay_s: 0, interpretation: 'normal' as const }
        const flags = { ...plan, result_types: null, has_missing_results: false }
        await applyStep(tx, lockedOrder, 'requisition_created', flags)
        if (status === 'cancelled') lockedOrder.transitionTo('cancelled')
        if (status === 'completed') await applyStep(tx, lockedOrder, 'completed', flags)
      })
  },

  async writing_result(tx, run) {
    run.plan.delivery = await createDelivery(tx, run)
  },

  async matching_result(tx, run) {
    const { raw_result_id } = await receiveForTeam(tx, run.plan.delivery!)
    run.raw_result_id = raw_result_id
  },

  async verifying_review(tx, { request, plan }) {
    const { status, decision_code } = await receiveForTeam(tx, plan.delivery!)
    if (decision_code !== request.case)
      throw new TestRunError(
        'unexpected_decision',
        `The result was judged ${decision_code}: other orders of the team come into it`,
      )
    if (status !== 'pending_customer_review')
      throw new TestRunError('not_reviewable', 'The result has no visible review: unmatched results are disabled for the team')
  },
}

const artifact = ({ id, user_id, order_transaction }: Order): Artifact => ({
  order_id: id,
  user_id,
  order_transaction_id: order_transaction.id,
})

function assertOrderFitsRole(order: Order, name: keyof typeof requiredRoles, role: string): void {
  const { lab, method } = order.lab_test
  const status = order.last_event.status.split('.').at(-1)
  const wanted = requiredRoles[name][role]
  if (status !== wanted) throw new TestRunError('invalid_order', `The order ${role} is ${status} and must be ${wanted}`)
  if (!SUPPORTED_LABS.includes(lab!.slug as never))
    throw new TestRunError('invalid_order', `The order ${role} must belong to one of ${SUPPORTED_LABS.join(', ')}`)
  if (name === 'wrong_collection' && method !== 'at_home_phlebotomy')
    throw new TestRunError('invalid_order', `The order ${role} must have the collection method at_home_phlebotomy`)
  if (casesWithSampleId.has(name) && order.sample_id === null)
    throw new TestRunError('invalid_order', `The order ${role} has no sample id yet`)
  if (!order.patient_details) throw new TestRunError('invalid_order', `The order ${role} has no patient yet`)
}

async function testsOfProvidedOrder(tx: Tx, order: Order, request: TestRun<Plan>['request']) {
  const { lab_test } = order
  if (request.case !== 'wrong_lab') return { orderedTest: lab_test, reportedTest: lab_test }
  const reported: LabTest = request.lab_test_id
    ? (await findLabTest(tx, request.lab_test_id))!
    : await testAtAnotherLab(tx, lab_test)
  return differentTests(lab_test, reported)
}

/** Returns the users of test runs: always the same, one for each role if the case needs several, because a sandbox has a limit of users. */
async function createUsers(tx: Tx, name: keyof typeof requiredRoles): Promise<string[]> {
  const users: string[] = []
  for (const n of Object.keys(requiredRoles[name]).keys())
    users.push(await createTestUser(tx, name === 'multiple_demo_match' ? n + 1 : 1))
  return users
}

async function createTestUser(tx: Tx, n: number): Promise<string> {
  const client_user_id = `unmatched-result-test-${n}`
  try {
    return (await resolveUser(tx, client_user_id)).user_id
  } catch (error) {
    if (!(error instanceof Problem && error.status === 404)) throw error
    return (await createUser(tx, { client_user_id })).user_id
  }
}

const sandboxAddress = withNulls(PatientAddress, {
  receiver_name: '',
  first_line: '1 Sample Way',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: UNITED_STATES,
})

/** Returns the ordering physician if the selected account requires the customer's own; undefined if the service's physician orders. */
async function physicianFor(tx: Tx, { lab }: LabTest): Promise<typeof examplePhysician | undefined> {
  const wanted = { lab: lab!, billing_type: 'client_bill', address: sandboxAddress, statuses: ['active'] } as const
  const account = await chooseAccount(tx, await usableAccounts(tx), wanted)
  return requiresPhysician(tx.tenant, account, lab!.slug) ? examplePhysician : undefined
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').toUpperCase()

/** Returns a patient of the run's own, so that runs do not affect each other. */
function patientOf(run_id: string): Patient {
  const digest = digestOf(run_id)
  const number = (offset: number, size: number) => 1 + (Number.parseInt(digest.slice(offset, offset + 4), 16) % size)
  const dob = `${1939 + number(0, 50)}-${padTwo(number(4, 12))}-${padTwo(number(8, 28))}`
  return withNulls(Patient, {
    first_name: 'Testa',
    last_name: `Fictional-${digest.slice(12, 20)}`,
    dob,
    gender: 'female',
    phone_number: '+15550100199',
    email: 'testa@example.com',
  })
}
const padTwo = (n: number): string => String(n).padStart(2, '0')

async function createDelivery(tx: Tx, { id, request, orders, plan }: TestRun<Plan>): Promise<IncomingResult> {
  const [first] = Object.values(orders)
  const order = first && (await getOrder(tx, first.order_id))
  const lab_test = (await findLabTest(tx, plan.reported_test!))!
  const known = order?.patient_details ?? patientOf(id)
  const patient = request.case === 'match_sample_id_mismatch_demo' ? otherPatient(known) : toReportedPatient(known)
  const sample_id = casesWithSampleId.has(request.case) ? order!.sample_id : `UNMATCHED-${digestOf(id).slice(0, 10)}`
  const report = generateReport(
    { id, sample_id, patient_details: known },
    await expectedResults(tx, lab_test.id),
    {
      interpretation: request.interpretation ?? 'normal',
      result_types: null,
      has_missing_results: false,
      partial: request.result_status === 'partial',
      amended: false,
    },
    { collected_at: null, received_at: null, reported_at: iso(tx.now) },
  )
  return {
    lab_slug: lab_test.lab!.slug,
    link: null,
    message_id: `unmatched-result-test ${id}`,
    sample_id,
    numbers: [],
    account_number: null,
    patient,
    report,
  }
}

const toReportedPatient = ({ first_name, last_name, dob, gender }: Patient): ReportedPatient => ({
  first_name,
  last_name,
  dob,
  gender,
})
const otherPatient = (patient: Patient): ReportedPatient => ({
  ...toReportedPatient(patient),
  first_name: 'Another',
  last_name: 'Imaginary',
})
