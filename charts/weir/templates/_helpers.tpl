{{/* Where the names of all objects begin. */}}
{{- define "weir.fullname" -}}
{{- default (ternary .Release.Name (printf "%s-weir" .Release.Name) (contains "weir" .Release.Name)) .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that selectors use: nothing in them changes with a version. Takes (root, component). */}}
{{- define "weir.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of an object. Takes (root, component). */}}
{{- define "weir.labels" -}}
{{- $root := index . 0 -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: weir
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Name, namespace and labels of an object. Takes (root, component). */}}
{{- define "weir.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "weir.fullname" $root }}-{{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "weir.labels" (list $root (index . 1)) | nindent 2 }}
{{- end -}}

{{/* Programs that have pods of their own, as a YAML list. */}}
{{- define "weir.programs" -}}
- operator
{{- if eq .Values.runtimes "Separate" }}
{{- range list "registry" "worker" }}
{{- if (index $.Values .).enabled }}
- {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The program in whose pods a runtime runs; empty: it does not. Takes (root, runtime). */}}
{{- define "weir.hostOf" -}}
{{- $root := index . 0 -}}
{{- if eq $root.Values.runtimes "Embedded" -}}operator
{{- else if (index $root.Values (index . 1)).enabled -}}{{ index . 1 }}
{{- end -}}
{{- end -}}

{{/* http or https. Takes (root, program). */}}
{{- define "weir.scheme" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
{{- if and (eq (index . 0).Values.runtimes "Separate") $values.tls $values.tls.secretName -}}https{{- else -}}http{{- end -}}
{{- end -}}

{{/* Port that a program answers its probes at. */}}
{{- define "weir.port" -}}
{{- index (dict "operator" 8080 "registry" 8081 "worker" 8083) . -}}
{{- end -}}

{{/* Where a runtime is reached inside the cluster. Takes (root, runtime). */}}
{{- define "weir.url" -}}
{{- $root := index . 0 -}}
{{- printf "%s://%s-%s.%s.svc:%s" (include "weir.scheme" .) (include "weir.fullname" $root) (index . 1) $root.Release.Namespace (include "weir.port" (index . 1)) -}}
{{- end -}}

{{- define "weir.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{/* Namespaces that are watched, as a YAML list; empty: all. */}}
{{- define "weir.watched" -}}
{{- if not (has "*" .Values.watchNamespaces) -}}
{{- toYaml (default (list .Release.Namespace) .Values.watchNamespaces) -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* Settings of Kafka's clients that are no secrets, as a YAML map. */}}
{{- define "weir.kafkaSettings" -}}
{{- $settings := dict -}}
{{- with .Values.kafka -}}
{{- if or .tls.enabled .sasl.mechanism -}}
{{- $_ := set $settings "security.protocol" (print (ternary "SASL_" "" (ne .sasl.mechanism "")) (ternary "SSL" "PLAINTEXT" .tls.enabled)) -}}
{{- end -}}
{{- if .sasl.mechanism -}}{{- $_ := set $settings "sasl.mechanism" .sasl.mechanism -}}{{- end -}}
{{- if and .tls.enabled .tls.caSecretName -}}{{- $_ := set $settings "ssl.truststore.location" (print "/etc/weir/kafka/" .tls.caKey) -}}{{- end -}}
{{- merge (deepCopy .properties) $settings | toYaml -}}
{{- end -}}
{{- end -}}

{{/* Those that are, as environment variables. Takes (root, prefix of their names). */}}
{{- define "weir.kafkaSecrets" -}}
{{- $prefix := index . 1 -}}
{{- with (index . 0).Values.kafka -}}
{{- $secrets := list -}}
{{- if .sasl.mechanism -}}
{{- $secrets = concat $secrets (list (list "SASL_USERNAME" .sasl.secretName .sasl.usernameKey) (list "SASL_PASSWORD" .sasl.secretName .sasl.passwordKey)) -}}
{{- end -}}
{{- if and .tls.enabled .tls.secretName -}}
{{- $secrets = concat $secrets (list (list "SSL_KEYSTORE_CERTIFICATE_CHAIN" .tls.secretName .tls.certificateKey) (list "SSL_KEYSTORE_KEY" .tls.secretName .tls.privateKeyKey)) -}}
{{- end -}}
{{- range $secrets }}
- name: {{ $prefix }}{{ index . 0 }}
  valueFrom:
    secretKeyRef: { name: {{ index . 1 | quote }}, key: {{ index . 2 | quote }} }
{{- end }}
{{- end -}}
{{- end -}}

{{/* Settings of the REST server of a runtime with pods of its own. Takes (root, runtime, prefix of TLS settings). */}}
{{- define "weir.restSettings" -}}
{{- $name := index . 1 -}}
{{- $values := index (index . 0).Values $name -}}
listeners: {{ include "weir.scheme" . }}://0.0.0.0:{{ include "weir.port" $name }}
{{- if $values.tls.secretName }}
{{ index . 2 }}ssl.keystore.location: /etc/weir/{{ $name }}-tls/tls-combined.pem
{{ index . 2 }}ssl.truststore.location: /etc/weir/{{ $name }}-tls/ca.crt
{{- end }}
{{- if $values.users.secretName }}
authentication.method: BASIC
weir.authentication.users.file: /etc/weir/{{ $name }}-users/users
{{- end }}
{{- end -}}

{{/* Settings of the registry, as a YAML map. */}}
{{- define "weir.registrySettings" -}}
{{- $settings := dict "listeners" "http://0.0.0.0:8081" -}}
{{- if eq .Values.runtimes "Separate" -}}
{{- $settings = include "weir.restSettings" (list . "registry" "") | fromYaml -}}
{{- $_ := set $settings "inter.instance.protocol" (include "weir.scheme" (list . "registry")) -}}
{{- $_ := set $settings "brokerstore.bootstrap.servers" .Values.kafka.bootstrapServers -}}
{{- range $key, $value := include "weir.kafkaSettings" . | fromYaml -}}{{- $_ := set $settings (printf "brokerstore.%s" $key) $value -}}{{- end -}}
{{- end -}}
{{- merge (deepCopy .Values.registry.properties) $settings | toYaml -}}
{{- end -}}

{{/* Settings of the worker, as a YAML map. */}}
{{- define "weir.workerSettings" -}}
{{- $group := .Values.worker.groupId -}}
{{- $settings := dict "listeners" "http://0.0.0.0:8083" -}}
{{- if eq .Values.runtimes "Separate" -}}
{{- $settings = include "weir.restSettings" (list . "worker" "listeners.https.") | fromYaml -}}
{{- $_ := set $settings "bootstrap.servers" .Values.kafka.bootstrapServers -}}
{{- $settings = merge $settings (include "weir.kafkaSettings" . | fromYaml) -}}
{{- if .Values.registry.enabled -}}
{{- $_ := set $settings "key.converter" "StringConverter" -}}
{{- $_ := set $settings "value.converter" "AvroConverter" -}}
{{- $_ := set $settings "value.converter.schema.registry.url" (include "weir.url" (list . "registry")) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $settings "group.id" $group -}}
{{- range list "config" "offset" "status" -}}{{- $_ := set $settings (printf "%s.storage.topic" .) (printf "%s-%s" $group (ternary "status" (printf "%ss" .) (eq . "status"))) -}}{{- end -}}
{{- if .Values.worker.secretNamespaces -}}
{{- $_ := set $settings "config.providers" "secret" -}}
{{- $_ := set $settings "config.providers.secret.class" "KubernetesSecretConfigProvider" -}}
{{- end -}}
{{- with include "weir.pluginPath" . -}}{{- $_ := set $settings "plugin.path" . -}}{{- end -}}
{{- merge (deepCopy .Values.worker.properties) $settings | toYaml -}}
{{- end -}}

{{/* Folders with plugins. */}}
{{- define "weir.pluginPath" -}}
{{- $paths := list -}}
{{- with .Values.worker.plugins -}}
{{- if .npm.packages -}}{{- $paths = append $paths "/plugins/npm" -}}{{- end -}}
{{- range .configMaps -}}{{- $paths = append $paths (printf "/plugins/config-maps/%s" .) -}}{{- end -}}
{{- range $at, $_ := .images -}}{{- $paths = append $paths (printf "/plugins/images/%d" $at) -}}{{- end -}}
{{- end -}}
{{- join "," $paths -}}
{{- end -}}

{{/* Whether a program's pods talk to Kafka; empty: they do not. Takes (root, program). */}}
{{- define "weir.usesKafka" -}}
{{- $root := index . 0 -}}
{{- if and (not $root.Values.kafka.embedded.enabled) (or (eq $root.Values.runtimes "Embedded") (ne (index . 1) "operator")) -}}true{{- end -}}
{{- end -}}

{{/* Arguments of a program, as a YAML list. Takes (root, program). */}}
{{- define "weir.args" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- with $root.Values -}}
- {{ $program }}
{{- if ne $program "operator" }}
- --config=/etc/weir/config/{{ $program }}.properties
{{- else }}
- --config=/etc/weir/config/operator.yaml
- --monitoring=http://0.0.0.0:8080
{{- if .operator.watchSecrets }}
- --secrets
{{- end }}
{{- if .webhook.enabled }}
- --webhook=https://0.0.0.0:9443
- --webhook-service={{ $root.Release.Namespace }}/{{ include "weir.fullname" $root }}-webhook
{{- if ne .webhook.certificates "SelfMade" }}
- --webhook-certificates=/etc/weir/webhook
{{- end }}
{{- end }}
{{- if eq .runtimes "Embedded" }}
{{- if .kafka.embedded.enabled }}
- --data=/data
{{- else }}
- --bootstrap={{ .kafka.bootstrapServers }}
{{- range $key, $value := include "weir.kafkaSettings" $root | fromYaml }}
- {{ printf "--set=%s=%s" $key $value | quote }}
{{- end }}
{{- end }}
{{- range $runtime := list "registry" "worker" }}
{{- range $key, $value := include (printf "weir.%sSettings" $runtime) $root | fromYaml }}
- {{ printf "--set=%s.%s=%s" $runtime $key $value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* Environment of a program, as a YAML list. Takes (root, program). */}}
{{- define "weir.env" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $values := index $root.Values $program -}}
{{- $service := printf "%s-%s-pods.%s.svc" (include "weir.fullname" $root) $program $root.Release.Namespace -}}
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage={{ $values.heapPercentage }}
{{- if ne $program "operator" }}
- name: POD_NAME
  valueFrom:
    fieldRef: { fieldPath: metadata.name }
- name: {{ ternary "SCHEMA_REGISTRY_HOST_NAME" "CONNECT_REST_ADVERTISED_HOST_NAME" (eq $program "registry") }}
  value: $(POD_NAME).{{ $service }}
{{- end }}
{{- if include "weir.usesKafka" . }}
{{- include "weir.kafkaSecrets" (list $root (index (dict "operator" "WEIR_SET_" "registry" "SCHEMA_REGISTRY_BROKERSTORE_" "worker" "CONNECT_") $program)) }}
{{- end }}
{{- with $values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What is mounted where: a YAML list of {name, path, readOnly, volume}. Takes (root, program). */}}
{{- define "weir.mounts" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $name := include "weir.fullname" $root -}}
{{- with $root.Values -}}
- { name: tmp, path: /tmp, volume: { emptyDir: { sizeLimit: 512Mi } } }
- { name: config, path: /etc/weir/config, volume: { configMap: { name: {{ $name }}-{{ $program }} } } }
{{- if and (include "weir.usesKafka" (list $root $program)) .kafka.tls.enabled .kafka.tls.caSecretName }}
- { name: kafka, path: /etc/weir/kafka, volume: { secret: { secretName: {{ .kafka.tls.caSecretName }}, items: [{ key: {{ .kafka.tls.caKey }}, path: {{ .kafka.tls.caKey }} }] } } }
{{- end }}
{{- if eq .runtimes "Separate" }}
{{- range $runtime := list "registry" "worker" }}
{{- $values := index $root.Values $runtime }}
{{- $own := eq $runtime $program }}
{{- if and $values.enabled $values.tls.secretName (or $own (eq $program "operator") (eq $runtime "registry")) }}
- { name: {{ $runtime }}-tls, path: /etc/weir/{{ $runtime }}-tls, volume: { secret: { secretName: {{ $values.tls.secretName }}{{ if not $own }}, items: [{ key: ca.crt, path: ca.crt }]{{ end }} } } }
{{- end }}
{{- if and $values.enabled $values.users.secretName (or $own (eq $program "operator")) }}
- { name: {{ $runtime }}-users, path: /etc/weir/{{ $runtime }}-users, volume: { secret: { secretName: {{ $values.users.secretName }}, items: [{{ if $own }}{ key: users, path: users }{{ else }}{ key: username, path: username }, { key: password, path: password }{{ end }}] } } }
{{- end }}
{{- end }}
{{- end }}
{{- if eq $program "operator" }}
{{- if and .webhook.enabled (ne .webhook.certificates "SelfMade") }}
- { name: webhook, path: /etc/weir/webhook, volume: { secret: { secretName: {{ ternary (printf "%s-webhook-certificate" $name) .webhook.secretName (eq .webhook.certificates "CertManager") }} } } }
{{- end }}
{{- range .operator.secrets }}
- { name: secret-{{ . }}, path: /etc/weir/secrets/{{ . }}, volume: { secret: { secretName: {{ . }} } } }
{{- end }}
{{- if .kafka.embedded.enabled }}
- { name: data, path: /data, readOnly: false, volume: {{ ternary (dict "persistentVolumeClaim" (dict "claimName" (printf "%s-data" $name))) (dict "emptyDir" dict) (ne .kafka.embedded.size "") | toJson }} }
{{- end }}
{{- end }}
{{- if eq $program (include "weir.hostOf" (list $root "worker")) }}
{{- with .worker.plugins }}
{{- if .npm.packages }}
- { name: plugins, path: /plugins/npm, volume: { emptyDir: {} } }
{{- end }}
{{- range .configMaps }}
- { name: plugins-{{ . }}, path: /plugins/config-maps/{{ . }}, volume: { configMap: { name: {{ . }} } } }
{{- end }}
{{- range $at, $image := .images }}
- { name: plugins-{{ $at }}, path: /plugins/images/{{ $at }}, volume: { image: {{ toJson $image }} } }
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The template of a program's pods. Takes (root, program). */}}
{{- define "weir.pod" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $values := index $root.Values $program -}}
{{- $pod := merge (deepCopy $values.pod) $root.Values.pods -}}
{{- $mounts := include "weir.mounts" . | fromYamlArray -}}
{{- $hostsWorker := eq $program (include "weir.hostOf" (list $root "worker")) -}}
{{- $packages := ternary $root.Values.worker.plugins.npm.packages list $hostsWorker -}}
{{- $probe := dict "port" $program "scheme" (include "weir.scheme" . | upper) -}}
metadata:
  labels:
    {{- merge (include "weir.selector" . | fromYaml) $pod.labels $root.Values.commonLabels | toYaml | nindent 4 }}
  annotations:
    checksum/config: {{ include "weir.config" . | sha256sum }}
    {{- with $pod.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "weir.fullname" $root }}-{{ $program }}
  automountServiceAccountToken: {{ or (eq $program "operator") (and (eq $program "worker") (gt (len $root.Values.worker.secretNamespaces) 0)) }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: 30
  securityContext:
    {{- include "weir.podSecurity" . | nindent 4 }}
  {{- with include "weir.pullSecrets" $root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $packages }}
  initContainers:
    - name: plugins
      image: {{ $root.Values.worker.plugins.npm.image }}
      command: [npm, install, --prefix=/plugins, --no-save, --no-audit, --no-fund, --ignore-scripts, --omit=dev, --]
      args:
        {{- toYaml . | nindent 8 }}
      env:
        - { name: HOME, value: /tmp }
        {{- if $root.Values.worker.plugins.npm.npmrcSecretName }}
        - { name: NPM_CONFIG_USERCONFIG, value: /etc/npm/.npmrc }
        {{- end }}
      securityContext:
        {{- include "weir.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: plugins, mountPath: /plugins }
        {{- if $root.Values.worker.plugins.npm.npmrcSecretName }}
        - { name: npmrc, mountPath: /etc/npm, readOnly: true }
        {{- end }}
  {{- end }}
  containers:
    - name: {{ $program }}
      image: {{ include "weir.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- include "weir.args" . | nindent 8 }}
      env:
        {{- include "weir.env" . | nindent 8 }}
      ports:
        - { name: {{ $program }}, containerPort: {{ include "weir.port" $program }} }
        {{- if eq $program "operator" }}
        {{- if $root.Values.webhook.enabled }}
        - { name: webhook, containerPort: 9443 }
        {{- end }}
        {{- if eq $root.Values.runtimes "Embedded" }}
        - { name: registry, containerPort: 8081 }
        - { name: worker, containerPort: 8083 }
        {{- end }}
        {{- end }}
      # A start reads whole topics: it may take its time, and is not taken for a hang.
      startupProbe:
        httpGet: { path: /healthz, {{ include "weir.flow" $probe }} }
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /healthz, {{ include "weir.flow" $probe }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, {{ include "weir.flow" $probe }} }
        periodSeconds: 5
        timeoutSeconds: 5
      {{- if or (ne $program "operator") (eq $root.Values.runtimes "Embedded") }}
      # Until nobody is sent here any more.
      lifecycle:
        preStop:
          sleep: { seconds: 3 }
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- include "weir.containerSecurity" . | nindent 8 }}
      volumeMounts:
        {{- range $mounts }}
        - { name: {{ .name }}, mountPath: {{ .path }}, readOnly: {{ not (has .name (list "tmp" "data")) }} }
        {{- end }}
        {{- with $values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- range $mounts }}
    - {{ set .volume "name" .name | toJson }}
    {{- end }}
    {{- if and $packages $root.Values.worker.plugins.npm.npmrcSecretName }}
    - { name: npmrc, secret: { secretName: {{ $root.Values.worker.plugins.npm.npmrcSecretName }} } }
    {{- end }}
    {{- with $values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- range $field := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
  {{- with index $pod $field }}
  {{ $field }}: {{ toJson . }}
  {{- end }}
  {{- end }}
  topologySpreadConstraints:
    {{- with $pod.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "weir.selector" (list $root $program) | nindent 10 }}
    {{- end }}
    {{- end }}
{{- end -}}

{{/* A map as it stands between braces. */}}
{{- define "weir.flow" -}}
{{- $pairs := list -}}
{{- range $key, $value := . -}}{{- $pairs = append $pairs (printf "%s: %s" $key $value) -}}{{- end -}}
{{- join ", " $pairs -}}
{{- end -}}

{{- define "weir.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "weir.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "weir.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* A program's settings, as data of its ConfigMap. Takes (root, program). */}}
{{- define "weir.config" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- if eq $program "operator" -}}
operator.yaml: |
  {{- include "weir.operatorConfig" $root | nindent 2 }}
{{- else -}}
{{ $program }}.properties: |
{{- range $key, $value := include (printf "weir.%sSettings" $program) $root | fromYaml }}
  {{ $key }}={{ $value | replace "\\" "\\\\" }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The operator's configuration. Runtimes with pods of their own are entries like others, called default. */}}
{{- define "weir.operatorConfig" -}}
apiVersion: config.weir.dev/v1alpha1
kind: OperatorConfig
{{- with .Values.operator.instance }}
instance: {{ . }}
{{- end }}
allowInlineSecrets: {{ .Values.operator.allowInlineSecrets }}
watchNamespaces: {{ include "weir.watched" . | fromYamlArray | toJson }}
{{- range $runtime, $plural := dict "worker" "workers" "registry" "registries" }}
{{- $entries := index $.Values.operator $plural }}
{{- if and (eq $.Values.runtimes "Separate") (index $.Values $runtime).enabled }}
{{- $entries = prepend $entries (include "weir.entry" (list $ $runtime) | fromYaml) }}
{{- end }}
{{ $plural }}:
  {{- toYaml $entries | nindent 2 }}
{{- end }}
{{- end -}}

{{/* How the operator reaches a runtime with pods of its own. Takes (root, runtime). */}}
{{- define "weir.entry" -}}
{{- $runtime := index . 1 -}}
{{- $root := index . 0 -}}
{{- $values := index $root.Values $runtime -}}
name: default
url: {{ include "weir.url" . }}
allowedNamespaces: { from: All }
{{- if $values.users.secretName }}
auth:
  type: basic
  usernameFile: /etc/weir/{{ $runtime }}-users/username
  passwordFile: /etc/weir/{{ $runtime }}-users/password
{{- end }}
{{- if $values.tls.secretName }}
tls: { caFile: /etc/weir/{{ $runtime }}-tls/ca.crt }
{{- end }}
{{- if eq $runtime "worker" }}
podSelector: app.kubernetes.io/instance={{ $root.Release.Name }},app.kubernetes.io/component=worker
{{- end }}
{{- end -}}

{{/* Values that make no sense together. */}}
{{- define "weir.check" -}}
{{- with .Values -}}
{{- if eq .runtimes "Embedded" -}}
{{- if not (or .kafka.bootstrapServers .kafka.embedded.enabled) -}}{{- fail "where is Kafka? kafka.bootstrapServers=HOST:PORT,… names a cluster, kafka.embedded.enabled=true tries without one" -}}{{- end -}}
{{- if not (and .registry.enabled .worker.enabled) -}}{{- fail "embedded runtimes are both there: registry.enabled=false and worker.enabled=false need runtimes=Separate" -}}{{- end -}}
{{- if or .registry.tls.secretName .registry.users.secretName .worker.tls.secretName .worker.users.secretName -}}{{- fail "embedded runtimes have no TLS and no log-in: registry.tls, registry.users, worker.tls and worker.users need runtimes=Separate" -}}{{- end -}}
{{- else -}}
{{- if .kafka.embedded.enabled -}}{{- fail "an embedded broker has embedded runtimes: kafka.embedded.enabled=true needs runtimes=Embedded" -}}{{- end -}}
{{- if and (or .registry.enabled .worker.enabled) (not .kafka.bootstrapServers) -}}{{- fail "where is Kafka? kafka.bootstrapServers=HOST:PORT,… names a cluster" -}}{{- end -}}
{{- end -}}
{{- if and .kafka.embedded.enabled .kafka.bootstrapServers -}}{{- fail "kafka.bootstrapServers and kafka.embedded.enabled are two places for the same thing: give one of them" -}}{{- end -}}
{{- if and .kafka.embedded.enabled (ne (int .operator.replicas) 1) -}}{{- fail "one process holds the embedded broker: kafka.embedded.enabled=true needs operator.replicas=1" -}}{{- end -}}
{{- if and .operator.allowInlineSecrets (not .operator.watchSecrets) -}}{{- fail "operator.allowInlineSecrets needs operator.watchSecrets: who may not read a Secret can't send it" -}}{{- end -}}
{{- if and .kafka.sasl.mechanism (not .kafka.sasl.secretName) -}}{{- fail "kafka.sasl.mechanism needs kafka.sasl.secretName: whose user name and password" -}}{{- end -}}
{{- if and (eq .webhook.certificates "Secret") (not .webhook.secretName) -}}{{- fail "webhook.certificates=Secret needs webhook.secretName: which one" -}}{{- end -}}
{{- if and (eq .worker.autoscaling.kind "KEDA") (not .worker.autoscaling.lag) -}}{{- fail "worker.autoscaling.kind=KEDA needs worker.autoscaling.lag: of which connectors" -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* A role, and that a program's account has it. Takes (root, program, {name, namespace?, rules}). */}}
{{- define "weir.grant" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- with index . 2 -}}
{{- $kind := ternary "Role" "ClusterRole" (hasKey . "namespace") }}
{{- $metadata := printf "name: %s\nlabels:\n%s" .name (include "weir.labels" (list $root $program) | indent 2) }}
{{- if .namespace }}{{- $metadata = printf "namespace: %s\n%s" .namespace $metadata }}{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  {{- $metadata | nindent 2 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  {{- $metadata | nindent 2 }}
subjects:
  - { kind: ServiceAccount, name: {{ include "weir.fullname" $root }}-{{ $program }}, namespace: {{ $root.Release.Namespace }} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: {{ .name }} }
{{ end -}}
{{- end -}}

{{/* Annotations of what `helm test` brings and takes away. */}}
{{- define "weir.testHook" -}}
helm.sh/hook: test
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
