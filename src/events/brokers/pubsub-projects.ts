// The Google Cloud projects to which teams of an organization may publish. They publish with the credentials of the operator,
// who lists the projects in PUBSUB_PROJECTS; all others are rejected.

/** Organization, or `*` for each of them → projects. */
export type PubSubProjects = ReadonlyMap<string, ReadonlySet<string>>

export const mayPublish = (projects: PubSubProjects, org_id: string, project: string): boolean =>
  (projects.get(org_id)?.has(project) ?? false) || (projects.get('*')?.has(project) ?? false)
