// Users through the SDK.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Junction } from '@junction-api/sdk'
import { fieldErrors, UNKNOWN_ID, assertRejected, type Customer } from '../client.ts'

export const users = ({ sdk, user }: Customer): void =>
  void describe('users', () => {
    test('a user is created and read by either id', async () => {
      const reference = `a reference/with + signs & ümlaut ${randomUUID()}`
      const made = await user(reference)
      assert.equal(made.clientUserId, reference)
      assert(made.createdOn instanceof Date)
      assert.deepEqual(made.connectedSources, [])
      assert.deepEqual(await sdk.user.get({ userId: made.userId }), made)
      assert.deepEqual(await sdk.user.getByClientUserId({ clientUserId: reference }), made)
    })

    test('a user is created with everything that can be said of it', async () => {
      const made = await sdk.user.create({
        clientUserId: randomUUID(),
        fallbackTimeZone: 'America/Phoenix',
        fallbackBirthDate: '1990-01-31',
        ingestionStart: '2024-01-01',
        ingestionEnd: '2024-12-31',
      })
      assert.equal(made.fallbackTimeZone?.id, 'America/Phoenix')
      assert.equal(made.fallbackBirthDate?.value, '1990-01-31')
      assert.equal(made.ingestionStart, '2024-01-01')
      assert.equal(made.ingestionEnd, '2024-12-31')
      await sdk.user.delete({ userId: made.userId })
    })

    test('a reference that is in use is refused with the user it stands for', async () => {
      const { userId, clientUserId } = await user()
      const error = await assertRejected(sdk.user.create({ clientUserId }), 400)
      assert(error instanceof Junction.BadRequestError)
      const { detail } = error.body as { detail: Record<string, string> }
      assert.equal(detail.error_type, 'INVALID_REQUEST')
      assert.equal(detail.user_id, userId)
      assert.match(detail.created_on!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
    })

    test('what is wrong with a user is all said at once', async () => {
      const request = {
        clientUserId: '',
        fallbackTimeZone: 'Phoenix',
        fallbackBirthDate: 'last winter',
        ingestionStart: '2024-02-30',
      }
      const error = await assertRejected(sdk.user.create(request), 422)
      assert(error instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(error), [
        'body.client_user_id',
        'body.fallback_time_zone',
        'body.fallback_birth_date',
        'body.ingestion_start',
      ])
    })

    test('users are listed newest first, page by page', async () => {
      const older = await user()
      const newer = await user()
      const first = await sdk.user.getAll({ limit: 1 })
      assert.deepEqual([first.users.length, first.limit, first.offset], [1, 1, 0])
      assert(first.total >= 2)
      const { users } = await sdk.user.getAll({ offset: 0, limit: 10 })
      const ids = users.map(({ userId }) => userId)
      assert(ids.indexOf(newer.userId) < ids.indexOf(older.userId))
      assert.deepEqual((await sdk.user.getAll({ offset: 1_000_000 })).users, [])
    })

    test('a page that is too large is refused', async () => {
      const error = await assertRejected(sdk.user.getAll({ limit: 501, offset: -1 }), 422)
      assert(error instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(error), ['query.offset', 'query.limit'])
    })

    test('users are found by part of a reference', async () => {
      const { userId, clientUserId } = await user()
      const found = await sdk.team.getUserById({ queryId: clientUserId.slice(11, 40) })
      assert.deepEqual(
        found.map((user) => user.userId),
        [userId],
      )
      assert.deepEqual(await sdk.team.getUserById({ queryId: randomUUID() }), [])
    })

    test('a user is changed field by field', async () => {
      const { userId } = await user()
      const clientUserId = `changed-${randomUUID()}`
      assert.equal(await sdk.user.patch({ userId, clientUserId, fallbackBirthDate: '1985-05-05' }), undefined)
      assert.equal((await sdk.user.getByClientUserId({ clientUserId })).fallbackBirthDate?.value, '1985-05-05')
      await sdk.user.patch({ userId, fallbackBirthDate: null })
      const cleared = await sdk.user.get({ userId })
      assert.deepEqual([cleared.fallbackBirthDate, cleared.clientUserId], [null, clientUserId])
    })

    test('a user cannot be given the reference of another, nor nothing', async () => {
      const taken = await user()
      const { userId } = await user()
      const conflict = await assertRejected(sdk.user.patch({ userId, clientUserId: taken.clientUserId }), 409)
      assert.deepEqual(conflict.body, { detail: 'Client user id already exists' })
      assert.deepEqual((await assertRejected(sdk.user.patch({ userId }), 400)).body, { detail: 'Nothing to patch' })
    })

    test('a deleted user is hidden, its reference is free, and it can be restored', async () => {
      const { userId, clientUserId } = await user()
      assert.deepEqual(await sdk.user.delete({ userId }), { success: true })
      const gone = await assertRejected(sdk.user.get({ userId }), 404)
      assert.deepEqual(gone.body, { detail: 'You have scheduled this user for deletion.' })
      await assertRejected(sdk.user.delete({ userId }), 404)
      await assertRejected(sdk.user.getByClientUserId({ clientUserId }), 404)
      assert.deepEqual(await sdk.user.undoDelete({ userId }), { success: true })
      assert.equal((await sdk.user.getByClientUserId({ clientUserId })).userId, userId)

      await sdk.user.delete({ userId })
      const successor = await user(clientUserId)
      await assertRejected(sdk.user.undoDelete({ clientUserId }), 409)
      await sdk.user.delete({ userId: successor.userId })
      assert.deepEqual(await sdk.user.undoDelete({ clientUserId }), { success: true })
    })

    test('a deletion that was not made cannot be taken back', async () => {
      const { userId } = await user()
      await assertRejected(sdk.user.undoDelete({ userId }), 404)
      await assertRejected(sdk.user.undoDelete({ userId: UNKNOWN_ID }), 404)
      const neither = await assertRejected(sdk.user.undoDelete({}), 422)
      assert(neither instanceof Junction.UnprocessableEntityError)
      await assertRejected(sdk.user.undoDelete({ userId, clientUserId: 'both' }), 422)
    })

    test('a user that is not there is not found, and an invalid id is rejected', async () => {
      const texts: [call: () => Promise<unknown>, detail: string][] = [
        [() => sdk.user.get({ userId: UNKNOWN_ID }), 'Not found'],
        [() => sdk.user.getByClientUserId({ clientUserId: randomUUID() }), 'User not found'],
        [() => sdk.user.patch({ userId: UNKNOWN_ID }), 'The user does not or no longer exists in this team'],
        [() => sdk.user.delete({ userId: UNKNOWN_ID }), 'The user does not or no longer exists in this team'],
      ]
      for (const [call, detail] of texts) assert.deepEqual((await assertRejected(call(), 404)).body, { detail })
      const malformed = await assertRejected(sdk.user.get({ userId: 'nonsense' }), 422)
      assert(malformed instanceof Junction.UnprocessableEntityError)
      assert.deepEqual(fieldErrors(malformed), ['path.user_id'])
    })

    test('a user with demographics gets links to the portal, which shows the orders', async () => {
      const { userId } = await user()
      await assertRejected(sdk.user.createPortalUrl({ userId, context: 'launch' }), 422)
      await sdk.user.upsertUserInfo({
        userId,
        firstName: 'Testa',
        lastName: 'Fictional',
        email: 'testa@example.com',
        phoneNumber: '+15550100199',
        gender: 'female',
        dob: '1990-01-31',
        address: { firstLine: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
      })
      for (const context of ['launch', 'communications'] as const) {
        const { url, expiresIn } = await sdk.user.createPortalUrl({ userId, context })
        assert(expiresIn >= 600)
        const page = await fetch(url)
        assert.equal(page.status, 200)
        assert.match(await page.text(), context === 'launch' ? /You have no orders/ : /Your birth date/)
      }
      await assertRejected(sdk.user.createPortalUrl({ userId: UNKNOWN_ID, context: 'launch' }), 404)
    })

    test('the team counts its users and orders', async () => {
      const before = await sdk.user.getTeamMetrics()
      const { userId, teamId } = await user()
      const after = await sdk.user.getTeamMetrics()
      assert.equal(after.teamId, teamId)
      assert.equal(after.numberOfUsers, before.numberOfUsers! + 1)
      await sdk.user.delete({ userId })
      assert.equal((await sdk.user.getTeamMetrics()).numberOfUsers, before.numberOfUsers)
    })
  })
