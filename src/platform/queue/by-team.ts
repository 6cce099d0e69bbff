// Work on rows of several teams, one statement for each team: under Citus only a statement that names one team can lock rows.

/** Statements that run at once. Each may need a connection of its own. */
const AT_ONCE = 4

/**
 * Does work for each team of some rows, in the order of the ids of the teams, for a few teams at once. Errors: the first one of the work.
 * @returns what the work returned for all teams
 */
export async function runByTeam<Item extends { team_id: string }, Result>(
  items: readonly Item[],
  work: (team_id: string, items: Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  const teams = [...Map.groupBy(items, ({ team_id }) => team_id)].sort(([a], [b]) => (a < b ? -1 : 1))
  const results: Result[][] = []
  const next = teams.entries()
  const runNext = async () => {
    for (const [i, [team_id, ofTeam]] of next) results[i] = await work(team_id, ofTeam)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runNext))
  return results.flat()
}
