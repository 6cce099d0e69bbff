// Shapes of imports of files.
import { Fields, Int, Maybe, Nullable, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { fileFormats } from './read-content.ts'
import { skipReasons } from './reading.ts'

const MIB = 1024 * 1024
/** Bytes of a file. */
export const FILE_BYTES_MAX = 1024 * MIB
/** Bytes of one request. */
export const PART_BYTES_MAX = 8 * MIB
/** Bytes of a part that is not the last one. */
export const PART_BYTES_MIN = 256 * 1024

const statuses = ['uploading', 'queued', 'importing', 'completed', 'partial', 'failed'] as const

const Counts = Fields(
  {
    accepted: T.Integer(),
    created: T.Integer(),
    updated: T.Integer(),
    dropped: T.Integer(),
  },
  { title: 'FileImportCounts', description: '`dropped` lie outside of the bounds of ingestion of the user.' },
)
export type Counts = Static<typeof Counts>

export const FileImport = Fields(
  {
    id: Uuid,
    user_id: Uuid,
    status: OpenEnum(statuses),
    format: Nullable(OpenEnum(fileFormats)),
    received_bytes: T.Integer({ description: 'Of the file. The next part begins here.' }),
    progress: T.Number({ description: 'How much of the content has been read: 0 to 1.' }),
    ...Counts.properties,
    resources: T.Record(T.String(), Counts, { description: 'The same counts by resource.' }),
    skipped: T.Record(T.String(), T.Record(T.String(), T.Integer()), {
      description: `Records that were not stored, by reason and kind. Reasons: ${skipReasons.join(', ')}.`,
    }),
    error: Nullable(Fields({ code: T.String(), message: T.String() }, { title: 'FileImportError' })),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'FileImport' },
)
export type FileImport = Static<typeof FileImport>
export const FileImports = Fields({ data: T.Array(FileImport) }, { title: 'FileImports' })

const last = {
  is_last: Maybe(T.Boolean({ description: 'The file ends with this part and is then imported; so it is if this is left out.' })),
}
export const FirstPartQuery = Fields(last)
export const PartQuery = Fields({
  offset: Int({ minimum: 0, maximum: FILE_BYTES_MAX, example: 262_144, description: 'Where in the file the part begins.' }),
  ...last,
})
export const UserParams = Fields({ user_id: Uuid })
export const ImportParams = Fields({ user_id: Uuid, import_id: Uuid })
export const ListQuery = Fields({ limit: Maybe(Int({ minimum: 1, maximum: 100, description: 'Default 20.' })) })
