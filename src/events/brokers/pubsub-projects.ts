// To which projects of Google Cloud the teams of an organization may publish. They do so with the credentials of the operator, who says so in
// PUBSUB_PROJECTS; what is not named is refused.

/** Organization, or `*` for each of them → projects. */
export type PubSubProjects = ReadonlyMap<string, ReadonlySet<string>>

export const mayPublish = (projects: PubSubProjects, org_id: string, project: string): boolean =>
  (projects.get(org_id)?.has(project) ?? false) || (projects.get('*')?.has(project) ?? false)
