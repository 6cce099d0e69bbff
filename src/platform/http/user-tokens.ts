// What access tokens of users may call: the operations that declare `userTokens`, and only about their own user.
import { forbidden } from './errors.ts'
import type { Operation, UserCredential } from './operation.ts'

const refused = () => forbidden('The access token of a user does not permit this')

const isOwn = (input: unknown, { user_id }: UserCredential): boolean =>
  (input as { user_id?: unknown } | undefined)?.user_id === user_id

/** 403: the operation does not accept access tokens of users, or its path names another user, existing or not. */
export function assertPathOfUser({ auth, userTokens }: Operation, user: UserCredential, params: unknown): void {
  // A link token reaches only operations that take nothing else.
  if (auth === 'link') return
  if (userTokens === undefined || (userTokens === 'path' && !isOwn(params, user))) throw refused()
}

/** 403: the body names another user, existing or not. */
export function assertBodyOfUser({ userTokens }: Operation, user: UserCredential, body: unknown): void {
  if (userTokens === 'body' && !isOwn(body, user)) throw refused()
}
