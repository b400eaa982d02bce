{{/* Values that make no sense together. */}}
{{- define "weir.check" -}}
{{- with .Values -}}
{{- if eq .runtimes "Embedded" -}}
{{- if not (or .kafka.bootstrapServers .kafka.embedded.enabled) -}}{{- fail "where is Kafka? kafka.bootstrapServers=HOST:PORT,… names a cluster, kafka.embedded.enabled=true tries without one" -}}{{- end -}}
{{- if not (and .registry.enabled .worker.enabled) -}}{{- fail "embedded runtimes are both there: registry.enabled=false and worker.enabled=false need runtimes=Separate" -}}{{- end -}}
{{- if or .registry.tls.secretName .registry.users.secretName .worker.tls.secretName .worker.users.secretName -}}{{- fail "embedded runtimes have no TLS and no login: registry.tls, registry.users, worker.tls and worker.users need runtimes=Separate" -}}{{- end -}}
{{- range $runtime := list "registry" "worker" -}}
{{- $values := index $.Values $runtime -}}
{{- if or $values.oidc.issuer $values.permissions.configMapName $values.audit.enabled -}}{{- fail (printf "embedded runtimes have no login: %s.oidc, %s.permissions and %s.audit need runtimes=Separate" $runtime $runtime $runtime) -}}{{- end -}}
{{- end -}}
{{- else -}}
{{- if .kafka.embedded.enabled -}}{{- fail "an embedded broker has embedded runtimes: kafka.embedded.enabled=true needs runtimes=Embedded" -}}{{- end -}}
{{- if and (or .registry.enabled .worker.enabled) (not .kafka.bootstrapServers) -}}{{- fail "where is Kafka? kafka.bootstrapServers=HOST:PORT,… names a cluster" -}}{{- end -}}
{{- end -}}
{{- if and .kafka.embedded.enabled .kafka.bootstrapServers -}}{{- fail "kafka.bootstrapServers and kafka.embedded.enabled are two places for the same thing: give one of them" -}}{{- end -}}
{{- if and .kafka.embedded.enabled (ne (int .operator.replicas) 1) -}}{{- fail "one process holds the embedded broker: kafka.embedded.enabled=true needs operator.replicas=1" -}}{{- end -}}
{{- if and .operator.allowInlineSecrets (not .operator.watchSecrets) -}}{{- fail "operator.allowInlineSecrets needs operator.watchSecrets: who may not read a Secret can't send it" -}}{{- end -}}
{{- if and .kafka.sasl.mechanism (not .kafka.sasl.secretName) -}}{{- fail "kafka.sasl.mechanism needs kafka.sasl.secretName: whose user name and password" -}}{{- end -}}
{{- if and (eq .webhook.certificates "Secret") (not .webhook.secretName) -}}{{- fail "webhook.certificates=Secret needs webhook.secretName: which one" -}}{{- end -}}
{{- range $runtime := list "registry" "worker" -}}
{{- $values := index $.Values $runtime -}}
{{- if and $values.oidc.issuer (not $values.oidc.audience) -}}{{- fail (printf "%s.oidc.issuer needs %s.oidc.audience: tokens made for others would be taken" $runtime $runtime) -}}{{- end -}}
{{- if and $values.oidc.issuer (not $values.users.secretName) (not $values.oidc.tokenSecretName) -}}{{- fail (printf "%s.oidc.issuer needs %s.oidc.tokenSecretName, or else %s.users.secretName: what the operator calls with" $runtime $runtime $runtime) -}}{{- end -}}
{{- if and $values.permissions.configMapName (not $values.users.secretName) (not $values.oidc.issuer) -}}{{- fail (printf "%s.permissions needs %s.users or %s.oidc: permissions are those of people who log in" $runtime $runtime $runtime) -}}{{- end -}}
{{- if and (eq $values.autoscaling.kind "HPA") (not ($values.resources.requests).cpu) -}}{{- fail (printf "%s.autoscaling.kind=HPA needs %s.resources.requests.cpu: of what it aims at a share" $runtime $runtime) -}}{{- end -}}
{{- end -}}
{{- if and (eq .worker.autoscaling.kind "KEDA") (not .worker.autoscaling.lag) -}}{{- fail "worker.autoscaling.kind=KEDA needs worker.autoscaling.lag: of which connectors" -}}{{- end -}}
{{- end -}}
{{- end -}}
