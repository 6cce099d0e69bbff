// `@drawbridge-server/testing`: a server, a team with its own clock, and a webhook receiver for each test (docs/TESTING.md).
// It runs on Node 20, and imports nothing of the server.
export { Drawbridge, type ConnectOptions } from './drawbridge.ts'
export type { EventBody, EventWaitOptions, TeamEvent, WaitOptions } from './event-log.ts'
export { DrawbridgeError } from './server-requests.ts'
export type { StartOptions } from './server-process.ts'
export type { Region, TeamOptions, TestTeam } from './test-team.ts'
export type { Delivery, ReceiverOptions, WebhookReceiver } from './webhook-receiver.ts'
