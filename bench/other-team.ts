// A second team in the cell of the demo team.
import { apiWith, type Api, type Bench } from './program.ts'

export interface OtherTeam {
  team: string
  user_id: string
  url: string
  headers: Record<string, string>
  api: Api
  /** Creates an order of a kit. */
  order: () => Promise<{ id: string }>
}

/** Creates a team with a user. @param receiver the address of its webhook; without one it has no webhook */
export async function createOtherTeam({ url, demo, kit }: Bench, receiver?: string): Promise<OtherTeam> {
  const org = `/v1/org/${demo.org_id}/team`
  const json = { 'content-type': 'application/json' }
  const management = apiWith(url, { ...json, 'x-management-key': demo.management_key })
  const { id: team } = await management('POST', org, { name: 'Bench Other Team', region: 'us' })
  const { access_token } = await management('POST', `${org}/${team}/create_api_access_token`, { env: 'sandbox' })
  if (receiver !== undefined) await management('POST', `${org}/${team}/sandbox/webhook`, { url: receiver })
  const headers = { ...json, authorization: `Bearer ${access_token}` }
  const api = apiWith(url, headers)
  const { user_id } = await api('POST', '/v2/user', { client_user_id: 'bench other' })
  const [test] = await api('GET', '/v3/lab_tests?collection_method=testkit')
  const own = { ...kit, user_id, lab_test_id: test.id }
  const order = async () => (await api('POST', '/v3/order/testkit', own)).order as { id: string }
  return { team: team as string, user_id, url, headers, api, order }
}
