// Passwords of members: their rules, and their hashes (argon2id). Source of the parameters: OWASP, Password Storage Cheat Sheet.
import { readFileSync } from 'node:fs'
import type { PlainTx, Queries } from '../../platform/db/transaction.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { ConcurrencyLimit } from '../../platform/runtime/concurrency-limit.ts'
import { Nullable, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'

/** In code points. */
export const PASSWORD_LENGTH_MIN = 12
/** In code points; the schema of requests has the same. */
export const PASSWORD_LENGTH_MAX = 200

/** argon2id with 19 MiB. */
const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
/** Of a text that nobody knows: accounts that do not exist take as long as others. */
const NOBODYS_HASH = '$argon2id$v=19$m=19456,t=2,p=1$eeiLUuLpuJf55m/3xD4DtQ$uOV4mtvKiE5+2iNxK732EPo3NTJcZ16UaTD/dOlAZ1Q'

/** A hash takes a tenth of a second of a processor. */
const hashing = new ConcurrencyLimit({ running_max: 2, waiting_max: 200, wait_ms: 10_000 })
const loadArgon2 = () => import('@node-rs/argon2')

/** The same password, however a keyboard composes its letters. */
const normalize = (password: string): string => password.normalize('NFKC')

/** The stored form of a password. 503: too many wait. */
export const hashPassword = (password: string): Promise<string> =>
  hashing.run(async () => (await loadArgon2()).hash(normalize(password), PARAMETERS))

/**
 * Whether a password has this hash. 503: too many wait.
 * @param password_hash undefined or null for an account without a password, which takes as long
 */
export const verifyPassword = (password_hash: string | null | undefined, password: string): Promise<boolean> =>
  hashing.run(async () => {
    const isRight = await (await loadArgon2()).verify(password_hash ?? NOBODYS_HASH, normalize(password))
    return isRight && password_hash !== undefined && password_hash !== null
  })

let common: ReadonlySet<string> | undefined

function commonPasswords(): ReadonlySet<string> {
  const lines = () => readFileSync(new URL('data/common-passwords.txt', import.meta.url), 'utf8').split('\n')
  return (common ??= new Set(lines().filter((line) => line !== '' && !line.startsWith('#'))))
}

/**
 * 422: the password is too short or easy to guess: one that leaks contain, also with digits and signs around it, a short text again and again,
 * or what the account is called.
 */
export function assertGoodPassword(password: string, { email, name }: { email: string; name: string }): void {
  const at = ['body', 'password']
  const text = normalize(password).toLowerCase()
  if ([...text].length < PASSWORD_LENGTH_MIN) throw invalidField(at, `must have at least ${PASSWORD_LENGTH_MIN} characters`)
  const core = text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const isCommon = [text, core].some((part) => commonPasswords().has(part) || part === '')
  const own = [email, email.split('@')[0]!, name].map((part) => part.toLowerCase())
  if (isCommon || /^(.{1,6}?)\1+.{0,5}$/u.test(text) || own.includes(core) || own.includes(text))
    throw invalidField(at, 'is easy to guess: choose another one')
}

const PasswordAccount = T.Object({
  member_id: T.String(),
  org_id: T.String(),
  name: T.String(),
  email: T.String(),
  password_hash: Nullable(T.String()),
})
export type PasswordAccount = Static<typeof PasswordAccount>

const accountColumns = sql`
  select m.id as member_id, m.org_id, m.name, m.email, p.password_hash
  from member m left join member_password p on p.member_id = m.id`

/** The account of an address, in any letter case. */
export const findAccountByEmail = (control: Queries, email: string): Promise<PasswordAccount | undefined> =>
  control.maybe(PasswordAccount, sql`${accountColumns} where lower(m.email) = lower(${email})`)

/** The account of a member. */
export const findAccount = (control: Queries, member_id: string): Promise<PasswordAccount | undefined> =>
  control.maybe(PasswordAccount, sql`${accountColumns} where m.id = ${member_id}`)

/** Sets the password of a member. Writes member_password. */
export const savePassword = (tx: PlainTx, member_id: string, password_hash: string): Promise<number> =>
  tx.run(sql`
    insert into member_password (member_id, password_hash, updated_at) values (${member_id}, ${password_hash}, ${tx.now})
    on conflict (member_id) do update set password_hash = excluded.password_hash, updated_at = excluded.updated_at`)
