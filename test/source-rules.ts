// The rules of test/check-sources.ts: words that no name consists of, folders of tests that follow the rules, and exceptions with their reasons.

/** Participles that do not end in -ed, and present participles. A field that is a boolean may be a participle: it states a condition. */
const PARTICIPLES = `
  begun born bought broken brought built caught chosen come done drawn eaten fallen felt forgotten found frozen given gone got grown heard held
  hidden kept known laid led lent lost made meant met overridden paid proven ridden risen said seen sent shaken shown shrunk sold sought spelt
  spent spoken stolen stood struck sunk taken thought thrown told torn typed understood withdrawn withheld woken won worn written
  arriving draining existing failing following identifying leading looking missing moving performing rejecting remaining retrying returning
  running waiting`

const PREPOSITIONS = `
  about above across after against along amid among around at before behind below beneath beside besides between beyond but by during except from in
  inside into near of off on onto out outside over past since through till to toward towards under until up upon via with within without`

const PRONOUNS = `
  all another any anything both each either everything few he her him his it its many mine more most much neither none nothing one ones other
  others own same she some something such that their them these they this those what which who whom whose`

const ADVERBS = `afresh again alone elsewhere here only otherwise then there together`

const words = (text: string): string[] => text.trim().split(/\s+/)

/** Words that end in -ed and name a thing or a state of a setting. */
const NOUNS_IN_ED = new Set(
  words('bed breed embed exceed expected enabled disabled feed fixed limited need proceed red seed shed speed unlimited'),
)
const participles = new Set(words(PARTICIPLES))
const functionWords = new Set(words([PREPOSITIONS, PRONOUNS, ADVERBS].join(' ')))

/** Whether a word is a past or present participle. */
export const isParticiple = (word: string): boolean =>
  participles.has(word) || (/^[a-z]+ed$/.test(word) && !NOUNS_IN_ED.has(word))

/** Whether a word is a preposition, a pronoun or an adverb. */
export const isFunctionWord = (word: string): boolean => functionWords.has(word)

/** Largest number of top-level definitions of one word in `src/`. */
export const DEFINITIONS_MAX = 3
export const FUNCTION_LINES_MAX = 70
/** Largest number of files of one name in `src/`. */
export const SAME_FILE_NAMES_MAX = 2
/** Names of files that say which part of a module they are: the search of an editor finds them by the folder. */
export const PARTS_OF_MODULES: readonly string[] = [
  'module.ts',
  'modules.ts',
  'routes.ts',
  'schema.ts',
  'features.ts',
  'event-types.ts',
]

/** Folders with tests, or with what tests use, whose names follow the rules. The list only grows. */
export const CHECKED_TESTS: readonly string[] = ['src', 'test', 'bench', 'eval', 'scripts']

/** `file name` → why it has a name that the rules do not allow. */
export const ALLOWED_NAMES: Record<string, string> = {
  'src/platform/schema/request-validation.ts required': 'a keyword of JSON Schema',
  'src/platform/schema/schema.ts OneOf': 'a keyword of OpenAPI, and a constructor of schemas as in TypeBox',
  'src/platform/db/connections.ts waiting': 'a state in the metric of connections',
  'src/platform/db/database-transaction.ts many': 'a method of a transaction, as in transaction.ts',
  'src/platform/db/database-transaction.ts one': 'a method of a transaction, as in transaction.ts',
  'src/platform/db/migrate.ts applied': 'a field of the result of the command',
  'src/platform/db/pipelined-connections.ts waiting': 'a state in the metric of connections',
  'src/platform/db/row-security.ts by': 'tells the kinds of protection apart',
  'src/platform/db/transaction.ts many': 'says how many rows the statement returns',
  'src/platform/db/transaction.ts one': 'says how many rows the statement returns',
  'src/lab/links/diagnostic-report.ts missing': 'a field of stored reports',
  'src/sandbox/clock/team-clock.ts to': 'a field of the API',
  'src/sandbox/faults/request-faults.ts after': 'a field of the API',
  'src/tenancy/audit/list-accesses.ts at': 'a field of the lines of the access log',
  'src/testing/event-log.ts after': 'documented in docs/TESTING.md',
  'src/testing/webhook-receiver.ts rejected': 'documented in docs/TESTING.md',
  'src/connections/file-imports/imports.ts paused': 'a field of stored JSON',
  'src/wearables/ingestion/ingest.ts accepted': 'a field of the API',
  'src/wearables/ingestion/ingest.ts created': 'a field of the API',
  'src/wearables/ingestion/ingest.ts dropped': 'a field of the API',
  'src/wearables/ingestion/ingest.ts rejected': 'a field of the API',
  'src/wearables/ingestion/ingest.ts updated': 'a field of the API',
  'src/wearables/queries/export-results.ts from': 'a field of the payload of a job',
  'src/wearables/queries/export-results.ts to': 'a field of the payload of a job',
  'src/wearables/queries/query-language.ts from': 'a field of the API',
  'src/cli/client/api-request.ts out': 'an option of the command',
  'src/cli/client/import-file.ts accepted': 'a field of the API',
  'src/cli/client/import-file.ts created': 'a field of the API',
  'src/cli/client/import-file.ts dropped': 'a field of the API',
  'src/cli/client/import-file.ts skipped': 'a field of the API',
  'src/cli/client/import-file.ts updated': 'a field of the API',
  'src/cli/client/logs.ts at': 'a field of the API',
  'src/cli/commands/access-log.ts from': 'an option of the command',
  'src/cli/commands/access-log.ts known': 'an option of the command',
  'src/cli/commands/access-log.ts until': 'an option of the command',
  'src/cli/commands/dead-letters.ts all': 'an option of the command',
  'src/cli/commands/report.ts out': 'an option of the command',
  'src/platform/access-log/access-line.ts at': 'a field of the lines of the access log',
  'test/support/architecture.ts about': 'as in records of modules',
  'src/platform/crypto/encrypted-columns.ts reencrypted': 'a field of printed JSON',
  'src/platform/http/errors.ts unauthorized': 'the name of the status',
  'src/platform/http/feature-flags.ts about': 'as in records of modules',
  'src/platform/http/operation.ts required': 'a keyword of JSON Schema, and of idempotency keys',
  'src/platform/mail/mail-outbox.ts to': 'a field of an email',
  'src/platform/mail/smtp.ts from': 'a field of an email',
  'src/platform/module/module.ts about': 'a field of every record of a module',
  'src/platform/module/module.ts others': 'a field of every record of a module',
  'src/platform/sms/sms-gateway.ts from': 'a field of a text message',
  'src/platform/sms/sms-gateway.ts to': 'a field of a text message',
  'console/frame/clock/team-clock.ts to': 'a field of the API',
  'console/pages/explorer/operations.ts in': 'a field of OpenAPI',
  'src/cli/commands/report.test.ts out': 'an option of the command',
  'bench/imports.ts accepted': 'a field of the API',
  'bench/imports.ts created': 'a field of the API',
  'src/connections/file-imports/faulty-files.test.ts accepted': 'a field of the API',
  'src/wearables/timeseries/merge-batches.test.ts created': 'a field of the API',
  'src/wearables/timeseries/merge-batches.test.ts updated': 'a field of the API',
  'test/acceptance/parts/file-imports.ts created': 'a field of the API',
  'test/support/access-lines.ts at': 'a field of the lines of the access log',
  'test/contract/examples.test.ts in': 'a field of OpenAPI',
  'test/contract/operations/invalid-values.ts required': 'a keyword of JSON Schema',
  'test/support/sms-gateway.ts from': 'a field of a text message',
  'test/support/sms-gateway.ts to': 'a field of a text message',
  'test/support/smtp-server.ts from': 'a field of an email',
  'test/support/smtp-server.ts to': 'a field of an email',
  'test/support/vendors/withings.ts more': 'a field of the API of Withings',
}

/** `file function` → why it is longer than a function may be. */
export const ALLOWED_LENGTHS: Record<string, string> = {
  'src/app/modules.ts modulesOf': 'the list of modules',
  'src/connections/link/link-page.ts linkPages': 'the list of pages',
  'src/notifications/portal/portal-pages.ts portalPages': 'the list of pages',
  'src/platform/pdf/canvas.ts createPdfCanvas': 'the methods of a canvas',
  'src/platform/telemetry/metrics.ts createMetrics': 'the list of metrics',
}

/** Exports of the program that only tests import, as `file name`, by the reason. */
export const TEST_EXPORTS: Record<string, readonly string[]> = {
  'a limit, a text or a list that tests compare with': [
    'src/connections/bulk/run-operation.ts HISTORIES_AT_ONCE',
    'src/connections/connections/permission-names.ts permissionNames',
    'src/connections/file-imports/file-units.ts dimensions',
    'src/connections/grants/access.ts vendorUrls',
    'src/events/brokers/request-checks.ts packagesOf',
    'src/lab-reports/loinc/release-file.ts releaseColumns',
    'src/lab/catalog/lab-test-changes.ts TEAM_TESTS_MAX',
    'src/lab/documents/abn-form.ts abnParts',
    'src/lab/fulfillment/schema.ts scans',
    'src/platform/db/fair-queue.ts OWNER_WAITING_MAX',
    'src/platform/db/fair-queue.ts WAITING_MAX',
    'src/platform/db/prepared-statements.ts NAMES_MAX',
    'src/platform/http/request.ts LONG_BODY_BYTES_MIN',
    'src/platform/net/outside-json.ts OutsideJsonError',
    'src/platform/pdf/characters.ts UNKNOWN_CHARACTER',
    'src/platform/pdf/text.ts TRUNCATION_NOTICE',
    'src/visits/appointments/booking-keys.ts KEY_EXPIRED',
  ],
  'where the tables of a cell are under Citus: the test of the schema applies its rules': [
    'src/platform/db/table-placement.ts undistributedTables',
  ],
  'a function without dependencies whose cases have a test of their own': [
    'src/connections/file-imports/adapters/tracks.ts instantOf',
    'src/connections/file-imports/xml.ts encodingOf',
    'src/connections/file-imports/xml.ts textOf',
    'src/connections/pulls/pull-resource.ts createWindows',
    'src/lab-reports/loinc/terms.ts parseTsv',
    'src/lab-reports/ocr/read-picture.ts levelBox',
    'src/lab-reports/ocr/read-picture.ts placeWords',
    'src/lab-reports/ocr/read-picture.ts uprightPage',
    'src/lab-reports/ocr/read-picture.ts withoutRepeatedLetters',
    'src/lab-reports/ocr/read-picture.ts withoutSpecks',
    'src/lab-reports/ocr/straighten.ts cornersOfPaper',
    'src/lab-reports/ocr/straighten.ts medianSlant',
    'src/lab-reports/ocr/straighten.ts parallel',
    'src/lab-reports/ocr/straighten.ts slopeByInk',
    'src/lab-reports/ocr/text-boxes.ts textBoxes',
    'src/lab-reports/reading/mended-rows.ts mendedName',
    'src/lab-reports/reading/mended-rows.ts mendedRange',
    'src/lab-reports/reading/mended-rows.ts mendedUnit',
    'src/lab-reports/reading/read-report.ts isAnalyte',
    'src/lab-reports/reading/read-report.ts isNamed',
    'src/lab-reports/reading/read-report.ts understand',
    'src/lab-reports/reading/spelling.ts spell',
    'src/lab-reports/tables/tables.ts readLinesOfPage',
    'src/lab/catalog/pricing.ts priceOf',
    'src/platform/db/migrations.ts readMigration',
    'src/platform/db/migrations.ts readMigrations',
    'src/platform/db/prepared-statements.ts PreparedNames',
    'src/platform/net/outbound-targets.ts isPublicAddress',
    'src/platform/pdf/characters.ts isPrintable',
    'src/platform/telemetry/terminal-log.ts isColored',
    'src/platform/telemetry/terminal-log.ts terminalLine',
    'src/sandbox/request-log/recent-requests.ts pathWithIds',
    'src/wearables/ingestion/workout-zones.ts maxHeartRate',
    'src/wearables/ingestion/workout-zones.ts zonesBetween',
    'src/wearables/resources/sports.ts slugOf',
  ],
  'a step of a worker that tests run by itself, or its state': [
    'src/connections/grants/grants.ts isAccountOfAnother',
    'src/events/delivery/delivery-rows.ts resent',
    'src/events/delivery/leases.ts isRevocationPending',
    'src/platform/access-log/log-retention.ts dropOldDays',
    'src/tenancy/audit/list-accesses.ts findAccess',
    'src/platform/db/row-security.ts installationOf',
    'src/platform/http/operator.ts cachedFor',
    'src/platform/runtime/task-limits.ts hasNamespaces',
    'src/tenancy/teams/team-erasure.ts eraseTeams',
  ],
  'a check sum that prepares the databases of tests': [
    'src/lab/catalog/load.ts catalogChecksum',
    'src/people/insurance/load.ts insuranceChecksum',
    'src/platform/db/row-security.ts protectionChecksum',
    'src/visits/psc/load-sandbox-sites.ts sitesChecksum',
  ],
  'the type of a parameter or result of these': [
    'src/connections/file-imports/run-import.ts ImportTurn',
    'src/events/delivery/delivery-worker.ts CellDelivery',
    'src/lab-reports/ocr/read-picture.ts PictureWord',
    'src/lab-reports/ocr/straighten.ts Slope',
    'src/tenancy/teams/team-erasure.ts ErasureLimits',
    'src/wearables/ingestion/day-records.ts DayOutcome',
  ],
}

/** `file key` → why an object literal has a key that no type declares. */
export const ALLOWED_KEYS: Record<string, string> = {
  'src/platform/db/database-connection.ts queryMode': 'read by pg, whose types lack it',
}
