// The official SDK as its users have it: a key, an address and nothing else.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { JunctionClient, JunctionError, type Junction } from '@junction-api/sdk'
import { recordCalls } from './sdk-methods.ts'
import type { Cell, Server } from './server.ts'

export type User = Junction.ClientFacingUser
export type Order = Junction.ClientFacingOrder

export const patient = {
  firstName: 'Testa',
  lastName: 'Fictional',
  dob: '1990-01-31',
  gender: 'female' as const,
  phoneNumber: '+15550100199',
  email: 'testa@example.com',
}
export const home = { firstLine: '1 Sample Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
export const parcel = { receiverName: 'Testa Fictional', ...home, phoneNumber: '+15550100199' }

/** An id that nothing has. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

/** The methods of the SDK that a customer has called with success. */
export const succeededCalls = new Set<string>()

export type Customer = ReturnType<typeof customer>

/** A customer of one cell; `leave` deletes the users that were made on the way. */
export function customer(server: Server, cell: Cell) {
  const sdk = new JunctionClient({ apiKey: server.keys[cell]!, environment: server.base_url })
  recordCalls(sdk, succeededCalls)
  const users: string[] = []

  const user = async (reference: string = `acceptance-${randomUUID()}`): Promise<User> => {
    const made = await sdk.user.create({ clientUserId: reference })
    users.push(made.userId)
    return made
  }

  /** A lab test whose samples are taken with a kit. */
  const kitTest = async (): Promise<string> => {
    const { data } = await sdk.labTests.getPaginated({ collectionMethod: 'testkit', status: 'active', labTestLimit: 1 })
    assert(data[0], 'the team has no active lab test with a kit')
    return data[0].id
  }

  const order = async (overrides: Partial<Junction.CreateOrderRequestCompatible> = {}): Promise<Order> => {
    const userId = overrides.userId ?? (await user()).userId
    const request = { labTestId: await kitTest(), patientDetails: patient, patientAddress: home, ...overrides, userId }
    return (await sdk.labTests.createOrder(request)).order
  }

  const kit = async (): Promise<Order> => {
    const { userId } = await user()
    return (await sdk.testkit.createOrder({ userId, labTestId: await kitTest(), shippingDetails: parcel })).order
  }

  const register = async ({ sampleId }: Order, overrides: Partial<Junction.RegisterTestkitRequest> = {}): Promise<Order> => {
    const consents = [{ consentType: 'terms-of-use' as const }]
    const request = { sampleId: sampleId!, patientDetails: patient, patientAddress: home, consents, ...overrides }
    return (await sdk.testkit.register(request)).order
  }

  /** The order once its background work has brought it to a status. */
  const waitForEvent = async (orderId: string, status: string): Promise<Order> => {
    const until = performance.now() + ARRIVAL_MS_MAX
    for (;;) {
      const found = await sdk.labTests.getOrder({ orderId })
      if (found.lastEvent.status === status) return found
      assert(performance.now() < until, `the order is still ${found.lastEvent.status}, not ${status}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** A registered kit with its result. */
  const reported = async (): Promise<Order> => {
    const { id } = await register(await kit())
    await sdk.labTests.simulateOrderProcess({ orderId: id })
    return waitForEvent(id, 'completed.testkit.completed')
  }

  /** What the SDK has no method for, through its passthrough. A query needs a whole address there. */
  const passthrough = async (path: string, init?: RequestInit): Promise<{ status: number; body: unknown }> => {
    const response = await sdk.fetch(new URL(`${server.base_url}${path}`), init)
    return { status: response.status, body: response.status === 204 ? undefined : await response.json() }
  }

  const deleteUser = async (): Promise<void> => {
    for (const userId of users) await sdk.user.delete({ userId }).catch(() => {})
  }

  return {
    sdk,
    base_url: server.base_url,
    management_key: server.management_key,
    user,
    kitTest,
    order,
    kit,
    register,
    arrived: waitForEvent,
    reported,
    passthrough,
    leave: deleteUser,
  }
}

const ARRIVAL_MS_MAX = 30_000

/** The error that a call ends in; the call fails the test when it ends well, or in an error without a status. */
export async function assertRejected(call: Promise<unknown>, status: number): Promise<JunctionError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert(error instanceof JunctionError, `not refused but ${error instanceof Error ? error.stack : 'answered'}`)
  assert.equal(error.statusCode, status, error.message)
  return error
}

/** The places of the faults of a 422. */
export const fieldErrors = (error: JunctionError): string[] =>
  (error.body as { detail: { loc: (string | number)[] }[] }).detail.map(({ loc }) => loc.join('.'))

export async function isPdf(file: { arrayBuffer(): Promise<ArrayBuffer> }): Promise<boolean> {
  const bytes = Buffer.from(await file.arrayBuffer())
  return bytes.subarray(0, 5).toString() === '%PDF-' && bytes.subarray(-8).toString().includes('%%EOF')
}
