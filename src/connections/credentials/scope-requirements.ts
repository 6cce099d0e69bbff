// Scope requirements of teams: the scopes that users are asked to grant when they connect a provider. Owns `scope_requirement`, in the
// control plane: it applies to both environments of a team. Source: management-auth.md 7; users-wearables.md 17.
import type { PlainTx } from '../../platform/db/transaction.ts'
import { unprocessable } from '../../platform/http/errors.ts'
import { valueFault, type Fault } from '../../platform/schema/fault.ts'
import { Clearable, Fields, OpenEnum, T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import { scopedProviders, scopes, defaultScopes, type ScopedProvider } from './scopes.ts'

const requirementOf = (provider: ScopedProvider) => {
  const list = T.Array(OpenEnum<string>(scopes[provider]), { maxItems: 50 })
  return Clearable(Fields({ user_must_grant: list, user_may_grant: list }))
}
type Requirement = ReturnType<typeof requirementOf>

export const UpsertScopes = Fields(
  Object.fromEntries(scopedProviders.map((name) => [name, requirementOf(name)])) as Record<ScopedProvider, Requirement>,
  { title: 'UpsertTeamScopeRequirementsBody' },
)
export type UpsertScopes = Static<typeof UpsertScopes>

const Row = T.Object({ provider: T.String(), user_must_grant: T.Array(T.String()), user_may_grant: T.Array(T.String()) })

/** Lists the requirements of a team for every provider with scopes, or for one; the default if the team has set none. */
export async function listScopes(tx: PlainTx, team_id: string, provider: string | undefined) {
  const rows = await tx.many(
    Row,
    sql`select provider, user_must_grant, user_may_grant from scope_requirement where team_id = ${team_id}`,
  )
  const set = new Map(rows.map(({ provider: name, ...lists }) => [name, lists]))
  const requestedProviders = scopedProviders.filter((name) => provider === undefined || name === provider)
  return {
    requirements: requestedProviders.map((name) => ({ team_id, provider: name, ...(set.get(name) ?? defaultScopes(name)) })),
  }
}

/**
 * Sets requirements. An absent provider keeps its requirement; null resets it to the default. Writes scope_requirement.
 * Errors: 422 a scope that is both required and optional.
 */
export async function upsertScopes(tx: PlainTx, team_id: string, body: UpsertScopes): Promise<void> {
  const faults: Fault[] = []
  for (const name of scopedProviders)
    for (const [i, scope] of (body[name]?.user_may_grant ?? []).entries())
      if (body[name]!.user_must_grant.includes(scope))
        faults.push(valueFault(['body', name, 'user_may_grant', i], 'is also in user_must_grant'))
  if (faults.length) throw unprocessable(faults)
  for (const name of scopedProviders) {
    const requirement = body[name]
    if (requirement === null) await tx.run(sql`delete from scope_requirement where team_id = ${team_id} and provider = ${name}`)
    if (!requirement) continue
    const [must, may] = [[...new Set(requirement.user_must_grant)], [...new Set(requirement.user_may_grant)]]
    await tx.run(sql`
      insert into scope_requirement (team_id, provider, user_must_grant, user_may_grant, updated_at)
      values (${team_id}, ${name}, ${must}::text[], ${may}::text[], ${tx.now})
      on conflict (team_id, provider) do update set user_must_grant = excluded.user_must_grant,
        user_may_grant = excluded.user_may_grant, updated_at = excluded.updated_at`)
  }
}
