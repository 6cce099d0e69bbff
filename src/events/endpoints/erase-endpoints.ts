// Erases the endpoints of a deleted team. Its deliveries must be erased before: they are found by their endpoints.
import { eraseTables } from '../../platform/db/erasure.ts'

export const eraseTeamEndpoints = eraseTables('webhook_secret', 'webhook')
