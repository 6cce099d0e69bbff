import type { Vault } from '../../platform/crypto/vault.ts'
import { operation } from '../../platform/http/operation.ts'
import { beginImport, continueImport, listImports, readImport } from './imports.ts'
import {
  FileImport,
  FileImports,
  FirstPartQuery,
  ImportParams,
  ListQuery,
  PART_BYTES_MAX,
  PartQuery,
  UserParams,
} from './schema.ts'

/** A ride of a fictional person. */
const track =
  '<gpx creator="Fictional"><trk><type>cycling</type><trkseg><trkpt lat="0" lon="0"><time>2026-01-31T09:30:00Z</time></trkpt></trkseg></trk></gpx>'

const ofPart = { logsAccess: true, file: true, body_bytes_max: PART_BYTES_MAX, reply: FileImport, success: 202 } as const

export const fileImportsRoutes = ({ vault }: { vault: Vault }) => [
  operation({
    ...ofPart,
    id: 'create_file_import',
    method: 'POST',
    path: '/v2/user/{user_id}/file_import',
    summary: 'Import a file of health data of a user',
    description:
      'The body is the file, or its first part: an Apple Health export (`export.zip` or `export.xml`), a FIT, TCX or GPX file, or a zip archive of those. A request has at most 8 MiB; a larger file is sent in parts of at least 256 KiB, the first one here with `is_last=false`, and has at most 1 GiB. The file is imported in the background; read the import until its `status` is `completed`, `partial` or `failed`. 400: the team has 5 imports that have not ended. 413: the part is too large.',
    params: UserParams,
    query: FirstPartQuery,
    example: track,
    // The key belongs to the path and the query: a file that is sent again changes nothing.
    idempotency: { scope: 'create_file_import', retention_s: 86_400, bindsToBody: true },
    run: (tx, { params, query, file }) => beginImport(tx, vault, params.user_id, { file, is_last: query.is_last ?? true }),
  }),
  operation({
    ...ofPart,
    id: 'continue_file_import',
    method: 'PUT',
    path: '/v2/user/{user_id}/file_import/{import_id}',
    summary: 'Add a part to a file that is imported',
    description:
      'The part begins where the file has ended so far, at `received_bytes`; else 409. The part that was sent last may be sent again. 409 as well: the file is complete. 413: the part or the file is too large. A file that is not complete after a day is deleted.',
    params: ImportParams,
    query: PartQuery,
    example: track,
    run: (tx, { params, query, file }) =>
      continueImport(
        tx,
        vault,
        { user_id: params.user_id, id: params.import_id },
        { file, offset: query.offset, is_last: query.is_last ?? true },
      ),
  }),
  operation({
    id: 'get_file_import',
    logsAccess: true,
    method: 'GET',
    path: '/v2/user/{user_id}/file_import/{import_id}',
    summary: 'Show the state of an import',
    description: 'Imports are kept for 90 days after their end, their files not at all.',
    params: ImportParams,
    reply: FileImport,
    run: (tx, { params }) => readImport(tx, params.user_id, params.import_id),
  }),
  operation({
    id: 'list_file_imports',
    logsAccess: true,
    method: 'GET',
    path: '/v2/user/{user_id}/file_import',
    summary: 'List the newest imports of a user',
    params: UserParams,
    query: ListQuery,
    reply: FileImports,
    run: (tx, { params, query }) => listImports(tx, params.user_id, query.limit),
  }),
]
