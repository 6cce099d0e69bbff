// The connectors to clouds of vendors, one per provider. A connector has a folder of its own next to this file.
import type { Connector } from './connector.ts'
import { dexcom } from './dexcom/dexcom.ts'
import { googleHealth } from './google-health/google-health.ts'
import { oura } from './oura/oura.ts'
import { polar } from './polar/polar.ts'
import { strava } from './strava/strava.ts'
import { whoop } from './whoop/whoop.ts'
import { withings } from './withings/withings.ts'

export const connectors: readonly Connector[] = [dexcom, googleHealth, oura, polar, strava, whoop, withings]

const byProvider = new Map<string, Connector>(connectors.map((connector) => [connector.provider, connector]))

/** The connector to a provider; undefined for a provider without one. */
export const connectorOf = (provider: string): Connector | undefined => byProvider.get(provider)
