// The modules of all domains, from the bottom of the architecture up. This file injects what one domain needs of another.
import { countConnections } from '../connections/connections/connections.ts'
import { VendorClient } from '../connections/connectors/vendor-http.ts'
import { connections } from '../connections/modules.ts'
import { consoleModules } from '../console/modules.ts'
import { ehr } from '../ehr/modules.ts'
import { events } from '../events/modules.ts'
import { lab } from '../lab/modules.ts'
import type { AbnForm } from '../lab/documents/abn-form.ts'
import { labReports } from '../lab-reports/modules.ts'
import { hasOrder } from '../lab/orders/orders.ts'
import { heldMail } from '../notifications/messages/messages.ts'
import { notifications } from '../notifications/modules.ts'
import { people } from '../people/modules.ts'
import { findDeletedUsers, findUser, notDeleted } from '../people/users/users.ts'
import type { Tx } from '../platform/db/transaction.ts'
import type { Module } from '../platform/module/module.ts'
import { platform } from '../platform/modules.ts'
import { openStorages } from '../platform/stored-files/open-storages.ts'
import { StoredFiles } from '../platform/stored-files/stored-files.ts'
import { demoSources } from '../sandbox/demo-data/demo-connections.ts'
import { sandbox } from '../sandbox/modules.ts'
import { tenancy } from '../tenancy/modules.ts'
import { readServiceAccount } from '../settings/service-account.ts'
import { appointmentStart } from '../visits/appointments/locked-appointment.ts'
import { visits } from '../visits/modules.ts'
import { wearables } from '../wearables/modules.ts'
import type { ModuleSettings, Process } from './process.ts'

const hasUser = async (tx: Tx, id: string): Promise<boolean> => (await findUser(tx, id)) !== undefined

/** Provider → the address that replaces those of the vendor. */
const providerUrls = (settings: ModuleSettings): Pick<ReadonlyMap<string, string>, 'get'> => ({
  get: (provider) => settings.provider_urls.find((entry) => entry.startsWith(`${provider}=`))?.slice(provider.length + 1),
})

/** The operator's form for advance beneficiary notices. */
export const abnFormOf = ({
  abn_form,
  abn_form_fields,
}: Pick<ModuleSettings, 'abn_form' | 'abn_form_fields'>): AbnForm | undefined =>
  typeof abn_form === 'string' ? { file: abn_form, fields: Object.fromEntries(abn_form_fields.map(splitField)) } : undefined
const splitField = (entry: string): [string, string] => [entry.split('=')[0]!, entry.slice(entry.indexOf('=') + 1)]

export function modulesOf(process: Process): Module[] {
  const {
    cells,
    log,
    metrics,
    vault,
    heavy,
    guards,
    signingKey,
    targets,
    settings,
    product,
    publicUrl,
    eventTypes,
    runner,
    clocks,
    locate,
    requests,
    recorder,
    faults,
    operationIds,
    operations,
    covers,
  } = process
  const findTenant = guards.teams.tenant
  const storedFiles = new StoredFiles({ kind: () => settings.report_storage, storages: () => openStorages(settings) })
  return [
    ...platform({
      mail: { cells, log, smtp: settings.smtp, isHeld: heldMail },
      storedFiles,
    }),
    ...tenancy({ cells, log, guards, storedFiles, settings, publicUrl, operations, has: { user: hasUser, order: hasOrder } }),
    ...people,
    ...events({
      cells,
      log,
      metrics,
      vault,
      targets,
      settings,
      product,
      publicUrl,
      eventTypes,
      findDeletedUsers,
      notDeleted,
      faults,
    }),
    ...lab({
      cells,
      log,
      metrics,
      vault,
      heavy,
      settings,
      targets,
      findTenant,
      publicUrl,
      countConnections,
      covers,
      abnForm: abnFormOf(settings),
    }),
    ...wearables({ cells, log, metrics, provider_retention: settings.provider_retention }),
    ...labReports({ vault, log, settings, storedFiles }),
    ...connections({
      cells,
      vault,
      publicUrl,
      guards,
      signingKey,
      client: new VendorClient({ targets, product }),
      urls: providerUrls(settings),
      settings,
      poll_s: () => settings.provider_poll_hours * 3600,
      // Checked when the settings were read.
      googleAccount: () => readServiceAccount(settings.google_service_account ?? ''),
      demoSources,
    }),
    ...visits({ vault, locate }),
    ...ehr({ cells, vault, targets, product }),
    ...notifications({ cells, log, sms: settings.sms, vault, guards, publicUrl }),
    ...sandbox({
      runner,
      clocks,
      guard: guards.teams,
      appointmentStart,
      requests,
      faults,
      operations: operationIds,
      eventTypes: () => new Set(eventTypes().map(({ name }) => name)),
    }),
    ...consoleModules({ cells, log, recorder, request_log_days: settings.request_log_days }),
  ]
}
