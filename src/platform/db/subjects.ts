// The users whose data a transaction reads or changes, for the access log.
const NO_TEAMS: ReadonlyMap<string, string[]> = new Map()

/** The users of a transaction, and the ids of their objects. */
export class Subjects {
  readonly users: string[] = []
  readonly objects: string[] = []
  #teams: Map<string, string[]> | undefined

  /** The users of each team, if the call has no team. */
  get teams(): ReadonlyMap<string, string[]> {
    return this.#teams ?? NO_TEAMS
  }

  /**
   * Adds a user whose data was read or changed, or null if there is none, and the id of the object, for example of an order. Duplicates
   * count once.
   * @param team_id of the user, in a call about several teams: each of them gets a line of its own
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
