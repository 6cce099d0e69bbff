// The list of modules: their operations, jobs, constraints and cleanups, put together. Nothing here does anything.
import { constraints as appointmentConstraints } from '../visits/appointments/appointments.ts'
import { eraseAppointmentsHandler, eraseTeamAppointments } from '../visits/appointments/erase.ts'
import { expireHandler } from '../visits/appointments/expiry-job.ts'
import { orderHook as appointmentOrderHook } from '../visits/appointments/order-hook.ts'
import { eraseTeamLabTests, seedStandardTests } from '../lab/catalog/lab-tests.ts'
import { routes as catalog } from '../lab/catalog/routes.ts'
import { sealedCredentials } from '../connections/credentials/credentials.ts'
import { eraseTeamConnections } from '../connections/credentials/erase.ts'
import { routes as connections } from '../connections/credentials/routes.ts'
import { requisitionHook, requisitionPage } from '../lab/documents/requisition-links.ts'
import { routes as documents } from '../lab/documents/routes.ts'
import { eraseTeamPipelines as eraseTeamEhr, sealedPipelineSecrets } from '../ehr/pipelines/pipelines.ts'
import { routes as ehr } from '../ehr/pipelines/routes.ts'
import { routes as fulfilment } from '../lab/fulfillment/routes.ts'
import { eraseInsurancesHandler, eraseTeamInsurances } from '../people/insurance/insurances.ts'
import { eraseTeamPayors } from '../people/insurance/payors.ts'
import { routes as insurance } from '../people/insurance/routes.ts'
import { eraseTeamAccounts } from '../lab/accounts/erase.ts'
import { routes as labs } from '../lab/accounts/routes.ts'
import { constraints as accountConstraints } from '../lab/accounts/sandbox-accounts.ts'
import { labOfAccount } from '../lab/accounts/account-selection.ts'
import type { Administration, Neighbours } from '../tenancy/access/access.ts'
import { sessionCleanup } from '../tenancy/embedding/sessions.ts'
import { constraints as domainConstraints } from '../tenancy/domains/domains.ts'
import { constraints as embeddingConstraints } from '../tenancy/embedding/embedding.ts'
import { teamCleanup } from '../tenancy/teams/team-erasure.ts'
import { constraints as launchConstraints } from '../tenancy/embedding/launches.ts'
import { constraints as memberConstraints } from '../tenancy/members/members.ts'
import { launchPages } from '../tenancy/embedding/launch-pages.ts'
import { routes as management } from '../tenancy/teams/routes.ts'
import { eraseMessagesHandler, eraseTeamMessages } from '../notifications/messages/erase.ts'
import { orderHook as messageOrderHook } from '../notifications/order-updates/order-hook.ts'
import { remindHandler } from '../notifications/reminders/reminders.ts'
import { planVisitHandler, remindVisitHandler } from '../notifications/reminders/visit-reminders.ts'
import { routes as messages } from '../notifications/messages/routes.ts'
import { dispatchHandler } from '../lab/orders/send-to-lab.ts'
import { eraseOrdersHandler, eraseTeamOrders } from '../lab/orders/erase.ts'
import { Hooks } from '../platform/db/hooks.ts'
import { markHandler } from '../lab/orders/list-checkpoints.ts'
import { constraints as orderConstraints, hasOrder } from '../lab/orders/orders.ts'
import { routes as orders } from '../lab/orders/routes.ts'
import { eraseTeamPhysicians } from '../people/physicians/physicians.ts'
import { routes as physicians } from '../people/physicians/routes.ts'
import { visitEnded } from '../visits/phlebotomy/booking.ts'
import { coverageOf } from '../visits/phlebotomy/coverage.ts'
import { dateHandler } from '../visits/phlebotomy/visit-progress.ts'
import { playHandler } from '../visits/phlebotomy/sandbox-visit-job.ts'
import { routes as phlebotomy } from '../visits/phlebotomy/routes.ts'
import { constraints as visitConstraints, eraseTeamVisits } from '../visits/phlebotomy/visits.ts'
import { eraseRawResultsHandler, eraseTeamRawResults } from '../lab/result-matching/erase.ts'
import { unassignedCleanup } from '../lab/result-matching/operator-reviews.ts'
import { routes as matching } from '../lab/result-matching/routes.ts'
import { pipelineCleanup } from '../events/brokers/broker-queue.ts'
import { eraseTeamPipelines } from '../events/brokers/erase.ts'
import { sealedDestinations } from '../events/brokers/pipelines.ts'
import type { PubSubProjects } from '../events/brokers/pubsub-projects.ts'
import { routes as pipelines } from '../events/brokers/routes.ts'
import type { Locate } from '../visits/geocoding/geocoder.ts'
import { placeCleanups } from '../visits/geocoding/postal-places.ts'
import type { ConstraintAnswers } from '../platform/db/database.ts'
import { erasePlatformRows, type TeamEraser } from '../platform/db/erasure.ts'
import type { Heavy } from '../platform/runtime/worker-threads.ts'
import { idempotencyCleanup } from '../platform/http/idempotency.ts'
import { mailCleanup } from '../platform/mail/mail-outbox.ts'
import type { Operation } from '../platform/http/operation.ts'
import type { BrowserPage } from '../platform/http/system-pages.ts'
import type { Handler } from '../platform/queue/outbox.ts'
import type { Cleanup } from '../platform/queue/retention.ts'
import type { SealedColumn } from '../platform/crypto/sealed-columns.ts'
import type { Vault } from '../platform/crypto/vault.ts'
import type { PscDirectory } from '../visits/psc/directory.ts'
import { routes as psc } from '../visits/psc/routes.ts'
import type { PhlebotomyCoverage } from '../visits/psc/search.ts'
import { eraseResultsHandler, eraseTeamResults } from '../lab/results/erase.ts'
import { routes as results } from '../lab/results/routes.ts'
import { giveUpHandler } from '../visits/psc-booking/booking-answers.ts'
import { routes as scheduling } from '../visits/psc-booking/routes.ts'
import type { World } from '../sandbox/clock/clock.ts'
import { eraseTeamSimulations } from '../sandbox/simulator/erase.ts'
import { rehearseHandler } from '../sandbox/unmatched-results/stages.ts'
import { eraseTeamRehearsals } from '../sandbox/unmatched-results/unmatched-result-tests.ts'
import { routes as simulator } from '../sandbox/simulator/routes.ts'
import { orderHooks as simulationOrderHooks, stepHandler, wakeHandler } from '../sandbox/simulator/simulate.ts'
import { routes as testkits } from '../lab/testkits/routes.ts'
import { eraseDemographicsHandler, eraseTeamDemographics } from '../people/users/demographics.ts'
import { routes as users } from '../people/users/routes.ts'
import {
  constraints as userConstraints,
  deletedAmong,
  eraseHandler,
  eraseTeamUsers,
  findUser,
  markHandler as markUsersHandler,
} from '../people/users/users.ts'
import { constraints as queryConstraints, eraseTeamQueries } from '../wearables/queries/continuous-queries.ts'
import { routes as wearables } from '../wearables/queries/routes.ts'
import { deletedEndpointsCleanup } from '../events/delivery-queue/deleted-endpoints.ts'
import { deliveryCleanups } from '../events/delivery-queue/delivery-queue.ts'
import { eraseTeamWebhooks } from '../events/endpoints/erase.ts'
import type { FeedWatch } from '../events/feed/feed-waiters.ts'
import { feedCleanup } from '../events/feed/feed.ts'
import { recallCleanup } from '../events/delivery-queue/endpoint-recalls.ts'
import { sealedHeaders } from '../events/endpoints/custom-headers.ts'
import { replayHandler } from '../events/delivery-log/replay.ts'
import { routes as webhooks } from '../events/endpoints/routes.ts'
import { sealedSecrets } from '../events/endpoints/signing-secrets.ts'
import type { Targets } from '../platform/net/outbound-targets.ts'

const named = (module: string, operations: Operation[]): Operation[] => operations.map((operation) => ({ ...operation, module }))

/** What operations need of the process that runs them. */
export interface Surroundings {
  heavy: Heavy
  world: World
  vault: Vault
  /** Where webhooks and brokers may be. */
  targets: Targets
  /** Where pipelines may publish with the credentials of the process. */
  pubsub_projects: PubSubProjects
  /** Name and version of the program, as receivers see it. */
  product: string
  /** Who waits for events. */
  watch: FeedWatch
  administration: Administration
  /** Where postal codes are. */
  locate: Locate
  /** Sites of laboratories, in memory. */
  directory: PscDirectory
}

/** The directory of service centers does not know visits; it is told of them here. */
const visitsIn: PhlebotomyCoverage = async (tx, { zip_code }) => (await coverageOf(tx, zip_code)).providers

/** Every operation there is, to be run in a process. */
export const operationsIn = ({
  heavy,
  world,
  administration,
  targets,
  pubsub_projects,
  vault,
  product,
  watch,
  locate,
  directory,
}: Surroundings): Operation[] => [
  ...named('management', management(administration)),
  ...named('ehr', ehr({ admin: administration, vault })),
  ...named('physicians', physicians),
  ...named('users', users),
  ...named('insurance', insurance),
  ...named('catalog', catalog(labOfAccount)),
  ...named('labs', labs(administration)),
  ...named('orders', orders),
  ...named('messages', messages),
  ...named('testkits', testkits),
  ...named('psc', psc({ directory, locate, coverage: visitsIn })),
  ...named('phlebotomy', phlebotomy(vault)),
  ...named('documents', documents({ heavy })),
  ...named('scheduling', scheduling({ directory, vault })),
  ...named('results', results(heavy)),
  ...named('matching', matching),
  ...named('fulfilment', fulfilment(administration)),
  ...named('simulator', simulator(world)),
  ...named('webhooks', webhooks({ vault, targets, product, url: () => administration.publicUrl(), deletedAmong, watch })),
  ...named('connections', connections({ vault, administration })),
  ...named('wearables', wearables),
  ...named('pipelines', pipelines({ administration, vault, targets, pubsub_projects })),
]

/** Every operation there is, to be described: running one that needs its surroundings fails. */
export const operations: Operation[] = operationsIn({} as Surroundings)

/** What the interface has on paths that are here, and that comes later. */
export const later: string[] = []

/** Handlers from the top of the architecture down: a job that several modules listen to reaches the highest first. */
export const handlersIn = ({ sms }: { sms: boolean }): Handler[] => [
  stepHandler,
  wakeHandler,
  dateHandler,
  playHandler,
  giveUpHandler,
  expireHandler,
  rehearseHandler,
  eraseRawResultsHandler,
  eraseResultsHandler,
  eraseMessagesHandler,
  remindHandler(sms),
  planVisitHandler,
  remindVisitHandler(sms),
  eraseAppointmentsHandler,
  dispatchHandler,
  markHandler,
  replayHandler,
  eraseOrdersHandler,
  eraseInsurancesHandler,
  eraseDemographicsHandler,
  eraseHandler,
  markUsersHandler,
]

/** Those of a process that has no gateway for text messages. */
export const handlers: Handler[] = handlersIn({ sms: false })

/**
 * What modules do in the transactions of others, from the bottom of the architecture up: what an order's visit makes of a step is seen by
 * the simulation, and what a step makes of the order by whoever tells of it.
 */
export const hooksIn = ({ vault, publicUrl, sms }: { vault: Vault; publicUrl: () => string; sms: boolean }): Hooks =>
  new Hooks([
    appointmentOrderHook,
    requisitionHook({ vault, publicUrl }),
    messageOrderHook({ sms }),
    ...simulationOrderHooks,
    visitEnded,
  ])

/** Pages for browsers, without a key. */
export const pagesIn = ({
  heavy,
  vault,
  administration,
}: Pick<Surroundings, 'heavy' | 'vault' | 'administration'>): BrowserPage[] => [
  ...launchPages(administration),
  requisitionPage(administration, vault, { heavy }),
]

export const constraints: ConstraintAnswers = {
  ...memberConstraints,
  ...domainConstraints,
  ...embeddingConstraints,
  ...launchConstraints,
  ...userConstraints,
  ...orderConstraints,
  ...appointmentConstraints,
  ...visitConstraints,
  ...accountConstraints,
  ...queryConstraints,
}

/** What the management interface is told of modules that it does not know. */
export const neighbours: Pick<Neighbours, 'seed' | 'has'> = {
  seed: seedStandardTests,
  has: { user: async (tx, id) => (await findUser(tx, id)) !== undefined, order: hasOrder },
}

/** From the top of the architecture down, as handlers: what refers to others is erased first. */
export const teamErasers: readonly TeamEraser[] = [
  eraseTeamSimulations,
  eraseTeamRehearsals,
  eraseTeamRawResults,
  eraseTeamResults,
  eraseTeamMessages,
  eraseTeamVisits,
  eraseTeamAppointments,
  eraseTeamOrders,
  eraseTeamAccounts,
  eraseTeamWebhooks,
  eraseTeamQueries,
  eraseTeamConnections,
  eraseTeamLabTests,
  eraseTeamInsurances,
  eraseTeamPayors,
  eraseTeamDemographics,
  eraseTeamUsers,
  eraseTeamPhysicians,
  eraseTeamPipelines,
  eraseTeamEhr,
  erasePlatformRows,
]

/** Rows that are deleted when their time is over. */
export const cleanups: readonly Cleanup[] = [
  idempotencyCleanup,
  sessionCleanup,
  mailCleanup,
  ...deliveryCleanups,
  deletedEndpointsCleanup,
  recallCleanup,
  teamCleanup(teamErasers),
  pipelineCleanup,
  feedCleanup,
  ...placeCleanups,
  unassignedCleanup,
]

/** Every column that holds secrets at rest: what `bin/drawbridge vault` moves from key to key. */
export const sealed: SealedColumn[] = [
  sealedHeaders,
  sealedSecrets,
  ...sealedCredentials,
  sealedDestinations,
  sealedPipelineSecrets,
]
