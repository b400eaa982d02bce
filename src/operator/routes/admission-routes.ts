import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import { HttpError } from '../../http/http-error.ts'
import {
  type AdmissionDecision,
  type DeleteRequest,
  parseAdmissionReview,
  toAdmissionReview,
  type WriteRequest,
} from '../admission/admission-review.ts'
import { ADMISSION_PATH } from '../admission/webhook-configuration.ts'

/** Decide about requests of the API server. */
export type AdmissionHandlers = {
  readonly store: (proposed: WriteRequest) => Promise<AdmissionDecision>
  readonly delete: (deletion: DeleteRequest) => Promise<AdmissionDecision>
}

/** `POST /admission`: responds to an AdmissionReview of the API server. */
export function admissionRoutes(decisions: AdmissionHandlers) {
  return (app: FastifyInstance): void => {
    addEndpoint(app, {
      method: 'POST',
      url: ADMISSION_PATH,
      permission: 'public',
      response: { 200: z.unknown() },
      handler: async ({ body }) => {
        const request = parseAdmissionReview(body)
        if (request === undefined)
          throw new HttpError(400, 'the request body is invalid: expected an AdmissionReview of admission.k8s.io/v1')
        const { uid, proposed, deletion } = request
        if (proposed !== undefined) return toAdmissionReview(uid, await decisions.store(proposed))
        if (deletion !== undefined) return toAdmissionReview(uid, await decisions.delete(deletion))
        return toAdmissionReview(uid, { allowed: true, warnings: [] })
      },
    })
  }
}
