// Starts one server before all tests and ends it after them. Worker processes find it in the environment.
import { Drawbridge } from '@drawbridge-server/testing'

export default async function setup() {
  const drawbridge = process.env.DRAWBRIDGE_URL ? await Drawbridge.connect() : await Drawbridge.start()
  process.env.DRAWBRIDGE_URL = drawbridge.url
  process.env.DRAWBRIDGE_ORG_ID = drawbridge.orgId
  process.env.DRAWBRIDGE_MANAGEMENT_KEY = drawbridge.managementKey
  return () => drawbridge.stop()
}
