// Whom a transaction is about, for the access log.
const NO_TEAMS: ReadonlyMap<string, string[]> = new Map()

/** Whom a transaction was about, and what of them. */
export class Subjects {
  readonly users: string[] = []
  readonly objects: string[] = []
  #teams: Map<string, string[]> | undefined

  /** The users of each team, where the call is of none. */
  get teams(): ReadonlyMap<string, string[]> {
    return this.#teams ?? NO_TEAMS
  }

  /**
   * A user whose data was read or changed, or null where nobody is known; and what of it, an order for example. Repetitions count once.
   * @param team_id of the user, in a call that is about several teams: each of them gets a line of its own
   */
  add(user_id: string | null, object?: string, team_id?: string): void {
    if (user_id !== null && team_id !== undefined) {
      this.#teams ??= new Map()
      const users = this.#teams.get(team_id) ?? []
      this.#teams.set(team_id, users)
      if (!users.includes(user_id)) users.push(user_id)
    } else if (user_id !== null && !this.users.includes(user_id)) this.users.push(user_id)
    if (object !== undefined && !this.objects.includes(object)) this.objects.push(object)
  }
}
