import {
  managementOperation,
  multiTransactionManagementOperation,
  multiTransactionOperation,
  operation,
  png,
  type Operation,
} from '../../platform/http/operation.ts'
import { teamInEnvironment } from '../../tenancy/organizations/management-shapes.ts'
import { Fields } from '../../platform/schema/schema.ts'
import { humanReview } from '../parsing-jobs/features.ts'
import { listWaiting } from '../parsing-jobs/jobs-in-review.ts'
import { ParsingJob } from '../parsing-jobs/schema.ts'
import type { PagePictures } from './pictures.ts'
import { approve, correct, fail, readReview } from './reviews.ts'
import { ApprovalBody, CorrectionBody, FailureBody, PageParams, Review, ReviewPage, ReviewParams, ReviewQuery } from './schema.ts'

export interface ReviewDependencies {
  pictures: PagePictures
  /** How long files are kept after a decision. */
  files_kept_s: () => number
}

const OWN = '/lab_report/v1/review' as const
const TEAM = '/v1/org/{org_id}/team/{team_id}/{environment}/lab_report_review' as const

const list = {
  logsAccess: true,
  method: 'GET',
  query: ReviewQuery,
  reply: ReviewPage,
  description:
    'Those with the status `pending_review`, oldest first. They were uploaded with `needs_human_review`, or something of the report is in no result.',
} as const
const show = {
  logsAccess: true,
  method: 'GET',
  reply: Review,
  description:
    'Every result as it was read and as it has been corrected, with its place on its page, how certain its words are, what is implausible and LOINC candidates; and all corrections and the decision with the keys that made them.',
} as const
const draw = {
  logsAccess: true,
  method: 'GET',
  reply: png,
  description:
    'At most 2,400 pixels high and wide; places of results refer to the size of the page in the review. 404: no such page, or its file has been deleted. 429: nine files of the team are waiting already. 503: the storage of the files cannot be reached.',
} as const
const change = {
  logsAccess: true,
  method: 'POST',
  body: CorrectionBody,
  reply: Review,
  description:
    'Changes fields of results and of the metadata, adds results and removes them. What was read is kept. Type and interpretation follow from a changed value or range, unless they are given. 409: another reviewer has corrected the report since `version`, or it has been decided.',
  example: { version: 0, changed: [{ result_id: 1, value: '96', units: 'mg/dL' }] },
} as const
const approval = {
  logsAccess: true,
  method: 'POST',
  body: ApprovalBody,
  reply: ParsingJob,
  description:
    'The job is `completed` with all corrections, and `is_reviewed` is true; `lab_report.parsing_job.updated` tells of it. 409: as for corrections.',
  example: { version: 0 },
} as const
const failure = {
  logsAccess: true,
  method: 'POST',
  body: FailureBody,
  reply: ParsingJob,
  description: 'The job is `failed`; `lab_report.parsing_job.updated` tells of it. 409: as for corrections.',
  example: { version: 0, failure_reason: 'low_quality' },
} as const

/** The operations of a team that reviews its own reports. */
const ofTeam = ({ pictures, files_kept_s }: ReviewDependencies): Operation[] => {
  const feature = humanReview
  return [
    operation({
      ...list,
      feature,
      id: 'list_lab_report_reviews',
      path: OWN,
      summary: 'List lab reports that wait for a review',
      run: (tx, { query }) => listWaiting(tx, query),
    }),
    operation({
      ...show,
      feature,
      id: 'get_lab_report_review',
      path: `${OWN}/{job_id}`,
      summary: 'Show what was read of a lab report, for its review',
      params: ReviewParams,
      run: (tx, { params }) => readReview(tx, params.job_id),
    }),
    multiTransactionOperation({
      ...draw,
      feature,
      id: 'get_lab_report_review_page',
      path: `${OWN}/{job_id}/page/{page}`,
      summary: 'Get the picture of a page of a lab report in review',
      params: PageParams,
      run: ({ tenant, cells }, { params }) =>
        pictures.draw((execute) => cells.db(tenant.cell).read(tenant, execute), params.job_id, params.page),
    }),
    operation({
      ...change,
      feature,
      id: 'correct_lab_report_review',
      path: `${OWN}/{job_id}/correct`,
      summary: 'Correct a lab report in review',
      params: ReviewParams,
      run: (tx, { params, body, key_id }) => correct(tx, params.job_id, body, key_id),
    }),
    operation({
      ...approval,
      feature,
      id: 'approve_lab_report_review',
      path: `${OWN}/{job_id}/approve`,
      summary: 'Approve a lab report with its corrections',
      params: ReviewParams,
      run: (tx, { params, body, key_id }) => approve(tx, params.job_id, { ...body, key_id, files_kept_s: files_kept_s() }),
    }),
    operation({
      ...failure,
      feature,
      id: 'fail_lab_report_review',
      path: `${OWN}/{job_id}/fail`,
      summary: 'Let a lab report in review fail',
      params: ReviewParams,
      run: (tx, { params, body, key_id }) => fail(tx, params.job_id, { ...body, key_id, files_kept_s: files_kept_s() }),
    }),
  ]
}

const reviewParams = Fields({ ...teamInEnvironment, ...ReviewParams.properties })

/** The same on behalf of a team. */
const ofManagement = ({ pictures, files_kept_s }: ReviewDependencies): Operation[] => {
  const bound = { scope: 'team', keyScope: 'bound' } as const
  return [
    managementOperation({
      ...list,
      ...bound,
      id: 'list_team_lab_report_reviews',
      path: TEAM,
      summary: 'List lab reports of a team that wait for a review',
      params: Fields(teamInEnvironment),
      run: (tx, { query }) => listWaiting(tx, query),
    }),
    managementOperation({
      ...show,
      ...bound,
      id: 'get_team_lab_report_review',
      path: `${TEAM}/{job_id}`,
      summary: 'Show what was read of a lab report of a team, for its review',
      params: reviewParams,
      run: (tx, { params }) => readReview(tx, params.job_id),
    }),
    multiTransactionManagementOperation({
      ...draw,
      ...bound,
      id: 'get_team_lab_report_review_page',
      path: `${TEAM}/{job_id}/page/{page}`,
      summary: 'Get the picture of a page of a lab report of a team in review',
      params: Fields({ ...teamInEnvironment, ...PageParams.properties }),
      run: ({ read }, { params }) => pictures.draw(read, params.job_id, params.page),
    }),
    managementOperation({
      ...change,
      ...bound,
      id: 'correct_team_lab_report_review',
      path: `${TEAM}/{job_id}/correct`,
      summary: 'Correct a lab report of a team in review',
      params: reviewParams,
      run: (tx, { params, body, manager }) => correct(tx, params.job_id, body, manager.key_id),
    }),
    managementOperation({
      ...approval,
      ...bound,
      id: 'approve_team_lab_report_review',
      path: `${TEAM}/{job_id}/approve`,
      summary: 'Approve a lab report of a team with its corrections',
      params: reviewParams,
      run: (tx, { params, body, manager }) =>
        approve(tx, params.job_id, { ...body, key_id: manager.key_id, files_kept_s: files_kept_s() }),
    }),
    managementOperation({
      ...failure,
      ...bound,
      id: 'fail_team_lab_report_review',
      path: `${TEAM}/{job_id}/fail`,
      summary: 'Let a lab report of a team in review fail',
      params: reviewParams,
      run: (tx, { params, body, manager }) =>
        fail(tx, params.job_id, { ...body, key_id: manager.key_id, files_kept_s: files_kept_s() }),
    }),
  ]
}

export const reviewRoutes = (dependencies: ReviewDependencies): Operation[] => [
  ...ofTeam(dependencies),
  ...ofManagement(dependencies),
]
